// Readiness of a step's gradients. All gradients are one block of fp32 values in the order in which the
// backward pass completes them, so a bucket is a range of it.
#pragma once

#include "workloads/cudnn/program/parameters.hpp"
#include "workloads/parallel/buckets.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>

namespace roof::cudnn {

/// Called on the host during a launch or capture, when the last operation of the parameter's gradient has been enqueued
/// in the stream. Parameters are numbered as in graph.parameters().
using GradientReady = std::function<void(std::size_t parameter, cudaStream_t stream)>;

/// Functions that exchange a step's gradients with other ranks. Each may be empty.
struct GradientHooks {
    /// Called before anything of a step is enqueued in the stream.
    std::function<void(cudaStream_t stream)> before_step{};
    GradientReady ready{};
    /// Called before the update is enqueued in the stream: makes the stream wait for the exchange.
    std::function<void(cudaStream_t stream)> before_update{};
    bool updates = true;  ///< false: another rank updates and sends its values before the next step
};

/// Divides the block into buckets of at least `least_bytes`, with the padding between parameters, which is zero and
/// stays zero in sums.
parallel::Packing pack(const Parameters& parameters, std::size_t least_bytes);

}  // namespace roof::cudnn
