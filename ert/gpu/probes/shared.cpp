// Bench "shared" of a GPU: the bandwidth of the shared memory of all multiprocessors together.
//
// Launched    one kernel of resident blocks; each thread reads or writes its own 16 bytes of four rows, again and
//             again. The number of blocks at once is found by trying.
// Saturates   the banks of shared memory; no two threads of a warp access the same bank.
// Bytes       those that the instructions read or write.
// Time        device events; the kernel itself reads the clock.
// Falsified   if any thread's sum differs from the host's, or the machine code of the loop has other accesses
//             than those counted.
#include "ert/gpu/kernels/shared.hpp"
#include "ert/base/error.hpp"
#include "ert/base/names.hpp"
#include "ert/gpu/probes/gpu_bench.hpp"
#include "ert/gpu/probes/tuning.hpp"

#include <optional>
#include <set>

namespace roof::gpu {

constexpr EnumNames<SharedOperation::store> names_of(SharedOperation)
{
    return {"operation", {"load", "store"}};
}

namespace {

constexpr long long max_iterations = 1 << 22;

class SharedSubject final : public KernelSubject<SharedLaunch, &SharedLaunch::iterations> {
  public:
    SharedSubject(SharedOperation operation, const GpuPoint& at) : KernelSubject(at), operation_(operation)
    {
        const int multiprocessors = attribute(at.id, cudaDevAttrMultiProcessorCount);
        const Kernel<SharedLaunch> kernel = shared_kernel_of(operation);
        const int most = resident_blocks(kernel);
        Variants variants;
        for (const int each : std::set<int>{1, std::max(1, most / 2), most}) {
            const int blocks = each * multiprocessors;
            variants.push_back({std::to_string(each * shared_threads) + " threads per multiprocessor",
                                work_of_bytes(1.0 * blocks * shared_bytes * shared_unroll),
                                kernel,
                                {.blocks = blocks}});
        }
        results_.emplace(array_for<std::uint32_t>(variants, &SharedLaunch::results, "sums of shared memory",
                                                  [](const auto& one) { return one.threads(); }));
        settle_on_fastest(variants, max_iterations);
    }

    void check() override
    {
        constexpr std::uint32_t iterations = 3;
        const CurrentDevice current(stream().id());
        run(iterations);
        const std::vector<std::uint32_t> found = results_->read(0, chosen().threads());
        for (std::size_t i = 0; i < found.size(); ++i) {
            const auto thread = static_cast<std::uint32_t>(i % shared_threads);
            if (found[i] == shared_result(operation_, thread, iterations)) continue;
            throw Error("the sum of thread " + std::to_string(i) + " is not that of the host");
        }
    }

    Bytes memory() const override { return {static_cast<double>(results_->bytes())}; }

  private:
    SharedOperation operation_;
    std::optional<Buffer<std::uint32_t>> results_;
};

}  // namespace

GpuBench shared_bench(const Libraries&)
{
    return {.name = "shared",
            .role = Role::bandwidth,
            .description =
                "Bytes that instructions of 16 bytes read from or write to shared memory, on all multiprocessors, "
                "every sum checked.",
            .axes = [](const Machine&) -> std::vector<Axis> {
                return {word_axis("operation", "what is done", names_in(names_of(SharedOperation{}).rows)),
                        word_axis("path", "shared memory", {"shared"})};
            },
            .create =
                [](const GpuPoint& at) {
                    return std::make_unique<SharedSubject>(parse_enum<SharedOperation>(at.point.text("operation")), at);
                }};
}

}  // namespace roof::gpu
