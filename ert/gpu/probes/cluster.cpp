// Bench "cluster" of a GPU: the bandwidth of loads from the shared memory of other blocks of a cluster.
//
// Launched    one kernel of as many clusters as the GPU holds at once, one block on each multiprocessor; each thread
//             reads its own 16 bytes of eight rows of another block, again and again, of each of the others in turn.
// Saturates   the network between the multiprocessors of a cluster.
// Bytes       those that the instructions read.
// Time        device events; the kernel itself reads the clock.
// Falsified   if any thread's sum differs from the host's, because each block has its own words; if the machine code
//             of the loop has other loads than those counted.
//
// Bench "cluster_latency": the time from one load of another block's shared memory to the next that needs its
// result.
//
// Launched    as many clusters as the GPU holds at once, one block on each multiprocessor. One thread of each block
//             visits all words of the next block's shared memory, neighbours far apart.
// Saturates   nothing: each multiprocessor has one load at a time.
// Counts      the steps of one thread; all threads step at the same time.
// Time        device events; the kernel itself reads the clock. A launch also fills the shared memory, once.
// Falsified   if any thread ends at another word than the arithmetic of its chain says.
#include "ert/gpu/kernels/cluster.hpp"
#include "ert/base/error.hpp"
#include "ert/base/names.hpp"
#include "ert/gpu/buffer.hpp"
#include "ert/gpu/kernels/chase.hpp"
#include "ert/gpu/probes/device_facts.hpp"
#include "ert/gpu/probes/gpu_bench.hpp"
#include "ert/gpu/probes/tuning.hpp"
#include "ert/method/ceilings/point_summary.hpp"

#include <array>
#include <functional>
#include <optional>

namespace roof::gpu {

namespace {

struct Size {
    std::string_view name;  ///< of the path
    int blocks;
};
constexpr std::array sizes{Size{"cluster:2", 2}, Size{"cluster:4", 4}, Size{"cluster:8", 8}, Size{"cluster:16", 16}};

constexpr long long max_iterations = 1 << 22;

/// Launches all clusters that the GPU holds at once. A probe derives from it, and adds check().
class ClusterSubject : public KernelSubject<ClusterLaunch, &ClusterLaunch::iterations> {
  public:
    Bytes memory() const override { return {static_cast<double>(results_->bytes())}; }

  protected:
    /// Each block writes `results_of_block` words. `bytes`: those that count for one iteration of a block. Throws
    /// Unsupported if no cluster of the point's size fits the GPU.
    ClusterSubject(const GpuPoint& at, ClusterOperation operation, int results_of_block,
                   const std::function<double(int blocks)>& bytes)
        : KernelSubject(at)
    {
        const int size = row_in(sizes, "path", at.point.text("path")).blocks;
        const Kernel<ClusterLaunch> kernel = cluster_kernel_of(operation, size);
        const int clusters = resident_clusters(kernel);
        if (clusters == 0)
            throw Unsupported("no cluster of " + std::to_string(size) + " blocks with " +
                              std::to_string(cluster_bytes >> 10) + " KiB of shared memory each fits this GPU");
        const int blocks = clusters * size;
        results_.emplace(static_cast<std::size_t>(blocks) * static_cast<std::size_t>(results_of_block),
                         "results of the clusters");
        settle_on_fastest({{std::to_string(clusters) + " clusters",
                            work_of_bytes(bytes(blocks)),
                            kernel,
                            {.results = results_->data(), .blocks = blocks, .size = size}}},
                          max_iterations);
    }
    /// The words that all blocks have written after a launch of that many iterations, block after block.
    std::vector<std::uint32_t> results_after(long long iterations) const
    {
        const CurrentDevice current(stream().id());
        run(iterations);
        return results_->read(0, results_->size());
    }

  private:
    std::optional<Buffer<std::uint32_t>> results_;
};

class LoadSubject final : public ClusterSubject {
  public:
    explicit LoadSubject(const GpuPoint& at)
        : ClusterSubject(at, ClusterOperation::load, cluster_threads,
                         [](int blocks) { return 1.0 * blocks * cluster_bytes * cluster_unroll; })
    {
    }

    void check() override
    {
        const auto iterations = static_cast<unsigned>(chosen().launch.size);  // comes back to the first of the others
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

class ChaseSubject final : public ClusterSubject {
  public:
    explicit ChaseSubject(const GpuPoint& at)
        : ClusterSubject(at, ClusterOperation::chase, 1, [](int) { return bytes_per_access * cluster_chase_unroll; })
    {
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

Axis cluster_axis()
{
    return word_axis("path", "shared memory of the other blocks of a cluster of so many blocks", names_in(sizes));
}

std::optional<std::string> missing_clusters(const Point&, const Machine&, const Device& device)
{
    return missing_capability(device, 90, "a cluster of blocks");
}

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
