// What the benches of clusters share: their sizes as a plan names them, and the reasons why a GPU has none.
#pragma once

#include "ert/gpu/kernels/cluster.hpp"
#include "ert/gpu/probes/gpu_bench.hpp"

#include <optional>
#include <string>

namespace roof::gpu {

/// "cluster:2" to "cluster:16".
Axis cluster_axis();
/// Blocks of a cluster of the point's path.
int cluster_size_of(const Point& point);
std::optional<std::string> missing_clusters(const Point& point, const Machine& machine, const Device& device);

/// Blocks of one launch: of all clusters that the current device holds at once. Throws Unsupported if none fits.
int cluster_blocks(ClusterOperation operation, int size);

}  // namespace roof::gpu
