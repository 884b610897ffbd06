// Bench "shared" of a GPU: the bandwidth of the shared memory of all multiprocessors together.
//
// Launched    one kernel of resident blocks; each thread reads or writes its own 16 bytes of four rows, again and
//             again. The number of blocks at once is found by trying.
// Saturates   the banks of shared memory. No two threads of a warp access the same bank.
// Bytes       those that the instructions read or write.
// Time        device events; the kernel itself reads the clock.
// Falsified   if any thread's sum differs from the host's, or the machine code of the loop has accesses narrower than
//             16 bytes.
#include "ert/gpu/kernels/shared.hpp"
#include "ert/base/error.hpp"
#include "ert/gpu/probes/gpu_bench.hpp"
#include "ert/gpu/probes/tuning.hpp"

#include <set>

namespace roof::gpu {

namespace {

constexpr long long max_iterations = 1 << 22;

class SharedSubject final : public TunedSubject {
  public:
    SharedSubject(SharedOperation operation, const GpuPoint& at)
        : TunedSubject(at),
          operation_(operation),
          multiprocessors_(attribute(at.id, cudaDevAttrMultiProcessorCount)),
          results_(static_cast<std::size_t>(multiprocessors_ * resident_shared_blocks(operation)) * shared_threads,
                   "sums of shared memory")
    {
        std::vector<Variant> variants;
        std::vector<int> blocks;
        const int most = resident_shared_blocks(operation);
        for (const int each : std::set<int>{1, std::max(1, most / 2), most}) {
            blocks.push_back(each * multiprocessors_);
            variants.push_back({std::to_string(each * shared_threads) + " threads per multiprocessor",
                                work_of_bytes(1.0 * blocks.back() * shared_bytes * shared_unroll),
                                [this, count = blocks.back()](long long iterations) { enqueue(count, iterations); }});
        }
        blocks_ = blocks[settle_on_fastest(variants, max_iterations)];
    }

    void check() override
    {
        constexpr std::uint32_t iterations = 3;
        const CurrentDevice current(stream().id());
        run(iterations);
        const std::vector<std::uint32_t> found = results_.read(0, static_cast<std::size_t>(blocks_) * shared_threads);
        for (std::size_t i = 0; i < found.size(); ++i) {
            const auto thread = static_cast<std::uint32_t>(i % shared_threads);
            if (found[i] == shared_result(operation_, thread, iterations)) continue;
            throw Error("the sum of thread " + std::to_string(i) + " is not that of the host");
        }
    }

    Bytes memory() const override { return {static_cast<double>(results_.bytes())}; }

  private:
    void enqueue(int blocks, long long iterations) const
    {
        enqueue_shared(operation_,
                       {.results = results_.data(),
                        .reading = stream().reading(),
                        .blocks = blocks,
                        .iterations = static_cast<int>(iterations)},
                       stream().get());
    }

    SharedOperation operation_;
    int multiprocessors_;
    Buffer<std::uint32_t> results_;
    int blocks_ = 1;
};

}  // namespace

GpuBench shared_bench(const Libraries&)
{
    return {.name = "shared",
            .role = Role::bandwidth,
            .description =
                "Bytes that instructions of 16 bytes read from or write to shared memory, on all "
                "multiprocessors, every sum checked.",
            .axes = [](const Machine&) -> std::vector<Axis> {
                return {word_axis("operation", "what is done", {"load", "store"}),
                        word_axis("path", "shared memory", {"shared"})};
            },
            .create =
                [](const GpuPoint& at) {
                    const bool loads = at.point.text("operation") == "load";
                    return std::make_unique<SharedSubject>(loads ? SharedOperation::load : SharedOperation::store, at);
                }};
}

}  // namespace roof::gpu
