#include "ert/gpu/probes/cluster_subject.hpp"

#include "ert/base/names.hpp"
#include "ert/gpu/probes/device_facts.hpp"

#include <array>
#include <string>

namespace roof::gpu {

namespace {

struct Size {
    std::string_view name;  ///< of the path
    int blocks;
};
constexpr std::array sizes{Size{"cluster:2", 2}, Size{"cluster:4", 4}, Size{"cluster:8", 8}, Size{"cluster:16", 16}};

constexpr long long max_iterations = 1 << 22;

int size_of(const Point& point)
{
    return row_in(sizes, "path", point.text("path")).blocks;
}

/// Of all clusters that the current device holds at once.
int resident_blocks_of(ClusterOperation operation, int size)
{
    const int clusters = resident_clusters(operation, size);
    if (clusters == 0)
        throw Unsupported("no cluster of " + std::to_string(size) + " blocks with " +
                          std::to_string(cluster_bytes >> 10) + " KiB of shared memory each fits this GPU");
    return clusters * size;
}

}  // namespace

Axis cluster_axis()
{
    return word_axis("path", "shared memory of the other blocks of a cluster of so many blocks", names_in(sizes));
}

std::optional<std::string> missing_clusters(const Point&, const Machine&, const Device& device)
{
    return missing_capability(device, 90, "a cluster of blocks");
}

ClusterSubject::ClusterSubject(const GpuPoint& at, ClusterOperation operation, int results_of_block)
    : TunedSubject(at),
      operation_(operation),
      size_(size_of(at.point)),
      blocks_(resident_blocks_of(operation, size_)),
      results_(static_cast<std::size_t>(blocks_) * static_cast<std::size_t>(results_of_block),
               "results of the clusters")
{
}

void ClusterSubject::settle(double bytes)
{
    settle_on_fastest({{std::to_string(blocks_ / size_) + " clusters", work_of_bytes(bytes),
                        [this](long long iterations) { enqueue(iterations); }}},
                      max_iterations);
}

std::vector<std::uint32_t> ClusterSubject::results_after(long long iterations) const
{
    const CurrentDevice current(stream().id());
    run(iterations);
    return results_.read(0, results_.size());
}

void ClusterSubject::enqueue(long long iterations) const
{
    enqueue_cluster(operation_,
                    {.results = results_.data(),
                     .reading = stream().reading(),
                     .blocks = blocks_,
                     .size = size_,
                     .iterations = static_cast<int>(iterations)},
                    stream().get());
}

}  // namespace roof::gpu
