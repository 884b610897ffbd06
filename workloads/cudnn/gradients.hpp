// What a step that shares its gradients with others needs to know: when each is whole, and where it lies. All gradients are one
// block of fp32 numbers, in the order in which the backward pass completes them: a bucket of them is a range.
#pragma once

#include "workloads/cudnn/program/parameters.hpp"
#include "workloads/parallel/buckets.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>
#include <vector>

namespace roof::cudnn {

/// Called on the host, while a step is launched or captured, when all that computes the parameter's gradient has been put into the
/// stream: what an event recorded there waits for. Parameters are numbered as in graph.parameters().
using GradientReady = std::function<void(std::size_t parameter, cudaStream_t stream)>;

/// What shares a step's gradients with other ranks puts in its way. Any may be empty.
struct GradientHooks {
    /// Called likewise before anything of a step is put into the stream.
    std::function<void(cudaStream_t stream)> before_step{};
    GradientReady ready{};
    /// Called likewise before the update is put into the stream: what is to be waited for is joined to the stream there.
    std::function<void(cudaStream_t stream)> before_update{};
    bool updates = true;  ///< false: another rank updates, and its values come before the next step
};

struct GradientBlock {
    float* begin = nullptr;  ///< where the program runs
    std::size_t count = 0;   ///< padding between parameters included: it is zero, and stays so when ranges are summed
    struct Piece {
        std::size_t first = 0;
        std::size_t count = 0;
    };
    std::vector<Piece> pieces;       ///< by parameter
    std::vector<std::size_t> order;  ///< parameters by place, which is the order of readiness
};

/// Of a program whose gradients begin there.
GradientBlock gradient_block(const Parameters& parameters, float* begin);

/// The block cut into buckets of at least so many bytes, padding included.
parallel::Packing pack(const GradientBlock& block, std::size_t least_bytes);

}  // namespace roof::cudnn
