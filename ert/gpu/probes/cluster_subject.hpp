// What the benches of clusters share: a launch of all clusters that the GPU holds at once, their sizes as a plan names them, and the
// reasons why a GPU has none.
#pragma once

#include "ert/gpu/buffer.hpp"
#include "ert/gpu/kernels/cluster.hpp"
#include "ert/gpu/probes/gpu_bench.hpp"
#include "ert/gpu/probes/tuning.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace roof::gpu {

/// The axis `path`: "cluster:2" to "cluster:16".
Axis cluster_axis();
std::optional<std::string> missing_clusters(const Point& point, const Machine& machine, const Device& device);

/// A probe derives from it, calls settle() at the end of its constructor, and adds check().
class ClusterSubject : public TunedSubject {
  public:
    Bytes memory() const override { return {static_cast<double>(results_.bytes())}; }

  protected:
    /// Each block writes `results_of_block` words. Throws Unsupported if no cluster of the point's size fits the GPU.
    ClusterSubject(const GpuPoint& at, ClusterOperation operation, int results_of_block);

    /// `bytes`: those that count for one iteration.
    void settle(double bytes);
    /// The words that all blocks have written after a launch of that many iterations, block after block.
    std::vector<std::uint32_t> results_after(long long iterations) const;

    int size() const { return size_; }  ///< blocks of a cluster
    int blocks() const { return blocks_; }

  private:
    void enqueue(long long iterations) const;

    ClusterOperation operation_;
    int size_;
    int blocks_;
    Buffer<std::uint32_t> results_;
};

}  // namespace roof::gpu
