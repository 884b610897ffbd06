// A kernel as a value: its function and how it is launched. All take one struct of arguments, which has the number of
// blocks.
#pragma once

#include "ert/gpu/check.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <source_location>

namespace roof::gpu {

template <class Launch>
struct Kernel {
    void (*function)(Launch) = nullptr;
    int threads = 1;               ///< of a block
    std::size_t shared_bytes = 0;  ///< of a block, allocated by the launch
    int cluster = 1;               ///< blocks of a cluster, which divide the blocks

    /// A launch of so many blocks. `attribute` must outlive what is returned.
    cudaLaunchConfig_t configuration(int blocks, cudaStream_t stream, cudaLaunchAttribute& attribute) const
    {
        attribute.id = cudaLaunchAttributeClusterDimension;
        attribute.val.clusterDim = {static_cast<unsigned>(cluster), 1, 1};
        cudaLaunchConfig_t made{};
        made.gridDim = dim3(static_cast<unsigned>(blocks));
        made.blockDim = dim3(static_cast<unsigned>(threads));
        made.dynamicSmemBytes = shared_bytes;
        made.stream = stream;
        made.attrs = &attribute;
        made.numAttrs = cluster > 1 ? 1 : 0;
        return made;
    }
    const void* address() const { return reinterpret_cast<const void*>(function); }
};

/// Puts one launch into the stream. Throws Error; Unsupported where this build has no code of the kernel for the GPU.
template <class Launch>
void enqueue(const Kernel<Launch>& kernel, const Launch& launch, cudaStream_t stream,
             std::source_location at = std::source_location::current())
{
    cudaLaunchAttribute attribute{};
    const cudaLaunchConfig_t configuration = kernel.configuration(launch.blocks, stream, attribute);
    void* arguments[]{const_cast<Launch*>(&launch)};
    check(cudaLaunchKernelExC(&configuration, kernel.address(), arguments), at);
}

/// Blocks that a multiprocessor of the current device holds at once. Throws as enqueue().
template <class Launch>
int resident_blocks(const Kernel<Launch>& kernel, std::source_location at = std::source_location::current())
{
    int blocks = 0;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel.address(), kernel.threads, kernel.shared_bytes),
          at);
    return blocks;
}

/// Clusters that the current device holds at once; 0 if none fits. Throws as enqueue().
template <class Launch>
int resident_clusters(const Kernel<Launch>& kernel, std::source_location at = std::source_location::current())
{
    cudaLaunchAttribute attribute{};
    const cudaLaunchConfig_t configuration = kernel.configuration(kernel.cluster, nullptr, attribute);
    int clusters = 0;
    check(cudaOccupancyMaxActiveClusters(&clusters, kernel.address(), &configuration), at);
    return clusters;
}

}  // namespace roof::gpu
