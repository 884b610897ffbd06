// Bench "cluster" of a GPU: the bandwidth of loads from the shared memory of other blocks of a cluster.
//
// Launched    one kernel of as many clusters as the GPU holds at once, one block on each multiprocessor; each thread
//             reads its own 16 bytes of eight rows of another block, again and again, of each of the others in turn.
// Saturates   the network between the multiprocessors of a cluster.
// Bytes       those that the instructions read.
// Time        device events; the kernel itself reads the clock.
// Falsified   if any thread's sum differs from the host's, because each block has its own words; if the machine code of the
//             loop has other loads than those counted.
#include "ert/base/error.hpp"
#include "ert/gpu/probes/cluster_subject.hpp"

namespace roof::gpu {

namespace {

class LoadSubject final : public ClusterSubject {
  public:
    explicit LoadSubject(const GpuPoint& at) : ClusterSubject(at, ClusterOperation::load, cluster_threads)
    {
        settle(1.0 * blocks() * cluster_bytes * cluster_unroll);
    }

    void check() override
    {
        const auto iterations = static_cast<unsigned>(size());  // comes back to the first of the others
        std::vector<std::uint32_t> expected;
        for (unsigned rank = 0; rank < iterations; ++rank) {
            for (std::uint32_t thread = 0; thread < cluster_threads; ++thread)
                expected.push_back(cluster_sum(rank, iterations, thread, iterations));
        }
        const std::vector<std::uint32_t> found = results_after(iterations);
        for (std::size_t i = 0; i < found.size(); ++i) {
            if (found[i] != expected[i % expected.size()])
                throw Error("the sum of thread " + std::to_string(i) + " is not that of the host");
        }
    }
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
                return {word_axis("operation", "what is done", {"load"}), cluster_axis()};
            },
            .unsupported_reason = missing_clusters,
            .create = [](const GpuPoint& at) { return std::make_unique<LoadSubject>(at); }};
}

}  // namespace roof::gpu
