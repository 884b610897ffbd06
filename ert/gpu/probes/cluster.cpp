// Bench "cluster" of a GPU: the bandwidth of loads from the shared memory of other blocks of a cluster.
//
// Launched    one kernel of as many clusters as the GPU holds at once, one block on each multiprocessor; each thread
//             reads its own 16 bytes of eight rows of another block, again and again, of each of the others in turn.
// Saturates   the network between the multiprocessors of a cluster.
// Bytes       those that the instructions read.
// Time        device events; the kernel itself reads the clock.
// Falsified   if any thread's sum differs from the host's, for each block's words are others; if the machine code of the
//             loop has other loads than those counted.
#include "ert/base/error.hpp"
#include "ert/gpu/probes/cluster_sizes.hpp"
#include "ert/gpu/probes/tuning.hpp"

namespace roof::gpu {

namespace {

constexpr long long max_iterations = 1 << 22;

class ClusterSubject final : public TunedSubject {
  public:
    explicit ClusterSubject(const GpuPoint& at)
        : TunedSubject(at),
          size_(cluster_size_of(at.point)),
          blocks_(cluster_blocks(ClusterOperation::load, size_)),
          results_(static_cast<std::size_t>(blocks_) * cluster_threads, "sums of other blocks' shared memory")
    {
        settle_on_fastest({{std::to_string(blocks_ / size_) + " clusters",
                            work_of_bytes(1.0 * blocks_ * cluster_bytes * cluster_unroll),
                            [this](long long iterations) { enqueue(iterations); }}},
                          max_iterations);
    }

    void check() override
    {
        const auto iterations = static_cast<unsigned>(size_);  // comes back to the first of the others
        const CurrentDevice current(stream().id());
        run(iterations);
        std::vector<std::uint32_t> expected;
        for (unsigned rank = 0; rank < iterations; ++rank) {
            for (std::uint32_t thread = 0; thread < cluster_threads; ++thread)
                expected.push_back(cluster_sum(rank, iterations, thread, iterations));
        }
        const std::vector<std::uint32_t> found = results_.read(0, results_.size());
        for (std::size_t i = 0; i < found.size(); ++i) {
            if (found[i] != expected[i % expected.size()])
                throw Error("the sum of thread " + std::to_string(i) + " is not that of the host");
        }
    }

    Bytes memory() const override { return {static_cast<double>(results_.bytes())}; }

  private:
    void enqueue(long long iterations) const
    {
        enqueue_cluster(ClusterOperation::load,
                        {.results = results_.data(),
                         .reading = stream().reading(),
                         .blocks = blocks_,
                         .size = size_,
                         .iterations = static_cast<int>(iterations)},
                        stream().get());
    }

    int size_;
    int blocks_;
    Buffer<std::uint32_t> results_;
};

}  // namespace

GpuBench cluster_bench(const Libraries&)
{
    return {.name = "cluster",
            .role = Role::bandwidth,
            .description =
                "Bytes that instructions of 16 bytes read from the shared memory of the other blocks of a cluster, on "
                "as many multiprocessors as clusters fit, every sum checked.",
            .axes = [](const Machine&) -> std::vector<Axis> {
                return {{.name = "operation", .meaning = "what is done", .defaults = {"load"}, .allowed = {"load"}},
                        cluster_axis()};
            },
            .unsupported_reason = missing_clusters,
            .create = [](const GpuPoint& at) { return std::make_unique<ClusterSubject>(at); }};
}

}  // namespace roof::gpu
