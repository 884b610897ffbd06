// Convolutions by this project's own kernels: a plan for one pass of one shape, or none where the kernels cannot
// compute it.
#pragma once

#include "ert/base/units.hpp"
#include "workloads/engine/algorithm.hpp"
#include "workloads/kernels/convolution_shape.hpp"
#include "workloads/kernels/elements.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

namespace roof::kernels {

using engine::Algorithm;

/// Values or gradients, in the layouts of convolution_shape.hpp. A pass writes one of them, and backward_weights also
/// `bias`.
struct ConvolutionOperands {
    Elements source;
    float* weights = nullptr;
    Elements result;
    float* bias = nullptr;       ///< [outputs]; null: no bias
    float* workspace = nullptr;  ///< aligned to a cache line; its values do not matter
};

/// How to compute one pass.
struct ConvolutionPlan {
    std::string name;  ///< "roof:direct:avx512"
    Algorithm algorithm = Algorithm::direct;
    Flops executed{};           ///< FLOPs that the kernel executes; transforms are not counted
    std::size_t workspace = 0;  ///< fp32 numbers
    std::function<void(const ConvolutionOperands&)> run;
};

struct ConvolutionOptions {
    Precision precision = Precision::fp32;  ///< of the maps
    bool relu = false;                      ///< forward: applied to the result
    int threads = 1;
};

/// By the definition. In bf16 only backward_weights, with AVX512_BF16 and at least two images.
std::optional<ConvolutionPlan> plan_direct(Pass pass, const ConvolutionShape& shape, const ConvolutionOptions& options);
/// By Winograd's F(4x4, 3x3): 36 products per pair of channels give 4x4 results, where the definition takes 144.
/// fp32, a 3x3 window, stride 1, padding 1.
std::optional<ConvolutionPlan> plan_winograd(Pass pass, const ConvolutionShape& shape,
                                             const ConvolutionOptions& options);

/// Channels in a vector: 16 with AVX-512, 8 with AVX2, 0 where the machine has neither and there are no plans.
int convolution_lanes();
inline int direct_lanes()
{
    return convolution_lanes();
}
inline int winograd_lanes()
{
    return convolution_lanes();
}
/// "roof:direct:avx512", "roof:wino_4x3:avx512". Only where convolution_lanes() is not 0.
const char* direct_implementation();
const char* winograd_implementation();
/// Whether both numbers of channels are multiples of 2 * lanes and, for direct, window and stride are at most
/// direct_largest_window.
bool direct_suits(const ConvolutionShape& shape);
bool winograd_suits(const ConvolutionShape& shape);
/// Whether the machine has AVX512_BF16.
bool has_direct_weights_bf16();

}  // namespace roof::kernels
