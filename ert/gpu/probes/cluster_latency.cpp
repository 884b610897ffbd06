// Bench "cluster_latency" of a GPU: the time from one load of another block's shared memory to the next that needs its
// result.
//
// Launched    as many clusters as the GPU holds at once, one block on each multiprocessor. One thread of each block
//             visits all words of the next block's shared memory, neighbours far apart.
// Saturates   nothing: each multiprocessor has one load at a time.
// Counts      the steps of one thread; all threads step at the same time.
// Time        device events; the kernel itself reads the clock. A launch also fills the shared memory, once.
// Falsified   if any thread ends at another word than the arithmetic of its chain says.
#include "ert/base/error.hpp"
#include "ert/gpu/kernels/chase.hpp"
#include "ert/gpu/probes/cluster_subject.hpp"
#include "ert/method/ceilings/point_summary.hpp"

namespace roof::gpu {

namespace {

class ChaseSubject final : public ClusterSubject {
  public:
    explicit ChaseSubject(const GpuPoint& at) : ClusterSubject(at, ClusterOperation::chase, 1)
    {
        settle(bytes_per_access * cluster_chase_unroll);
    }

    void check() override
    {
        constexpr long long iterations = 100;
        const auto expected = chase_position(cluster_words, iterations * cluster_chase_unroll);
        for (const std::uint32_t found : results_after(iterations)) {
            if (found == expected) continue;
            throw Error("a chase is at word " + std::to_string(found) + ", not " + std::to_string(expected));
        }
    }
};

}  // namespace

GpuBench cluster_latency_bench(const Libraries&)
{
    return {.name = "cluster_latency",
            .role = Role::latency,
            .description =
                "Time of one load of a chain through the shared memory of the next block of a cluster, by one thread "
                "of each block.",
            .axes = [](const Machine&) -> std::vector<Axis> { return {cluster_axis()}; },
            .unsupported_reason = missing_clusters,
            .create = [](const GpuPoint& at) { return std::make_unique<ChaseSubject>(at); }};
}

}  // namespace roof::gpu
