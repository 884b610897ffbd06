#include "ert/gpu/probes/cluster_sizes.hpp"

#include "ert/base/error.hpp"
#include "ert/gpu/probes/capability.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace roof::gpu {

namespace {

struct Size {
    const char* path;
    int blocks;
};
constexpr std::array sizes{Size{"cluster:2", 2}, Size{"cluster:4", 4}, Size{"cluster:8", 8}, Size{"cluster:16", 16}};

}  // namespace

Axis cluster_axis()
{
    std::vector<std::string> paths;
    for (const Size& size : sizes) paths.emplace_back(size.path);
    return {.name = "path",
            .meaning = "shared memory of the other blocks of a cluster of so many blocks",
            .defaults = paths,
            .allowed = paths};
}

int cluster_size_of(const Point& point)
{
    const auto found = std::ranges::find(sizes, point.text("path"), &Size::path);
    if (found == sizes.end()) throw InputError("unknown path '" + point.text("path") + "'");
    return found->blocks;
}

std::optional<std::string> missing_clusters(const Point&, const Machine&, const Device& device)
{
    return missing_capability(device, 90, "a cluster of blocks");
}

int cluster_blocks(ClusterOperation operation, int size)
{
    const int clusters = resident_clusters(operation, size);
    if (clusters == 0)
        throw Unsupported("no cluster of " + std::to_string(size) + " blocks with " +
                          std::to_string(cluster_bytes >> 10) + " KiB of shared memory each fits this GPU");
    return clusters * size;
}

}  // namespace roof::gpu
