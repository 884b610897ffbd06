// Convolution kernels of this project. A plan computes one pass of one shape; there is none if the kernels cannot.
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

/// Values or gradients in the layouts of convolution_shape.hpp. A pass writes one; backward_weights also writes `bias`.
struct ConvolutionOperands {
    Elements source;
    float* weights = nullptr;
    Elements result;
    float* bias = nullptr;       ///< [outputs]; null: no bias
    float* workspace = nullptr;  ///< aligned to a cache line; contents are ignored
};

/// Computes one pass.
struct ConvolutionPlan {
    std::string name;  ///< "roof:direct:avx512"
    Algorithm algorithm = Algorithm::direct;
    Flops executed{};           ///< FLOPs that the kernel executes, without transforms
    std::size_t workspace = 0;  ///< fp32 numbers
    std::function<void(const ConvolutionOperands&)> run;
};

struct ConvolutionOptions {
    Precision precision = Precision::fp32;  ///< of the maps
    bool relu = false;                      ///< forward: applied to the result
    int threads = 1;
};

/// The direct algorithm. bf16: backward_weights only, with AVX512_BF16 and at least two images.
std::optional<ConvolutionPlan> plan_direct(Pass pass, const ConvolutionShape& shape, const ConvolutionOptions& options);
/// Winograd's F(4x4, 3x3): 36 products per pair of channels give 4x4 results; the definition takes 144.
/// Needs fp32, a 3x3 window, stride 1 and padding 1.
std::optional<ConvolutionPlan> plan_winograd(Pass pass, const ConvolutionShape& shape,
                                             const ConvolutionOptions& options);

/// Channels per vector: 16 with AVX-512, 8 with AVX2, 0 with neither. With 0 there are no plans.
int convolution_lanes();
inline int direct_lanes()
{
    return convolution_lanes();
}
inline int winograd_lanes()
{
    return convolution_lanes();
}
/// "roof:direct:avx512", "roof:wino_4x3:avx512". Requires convolution_lanes() > 0.
const char* direct_implementation();
const char* winograd_implementation();
/// True if both channel counts are multiples of 2 * lanes. Direct also needs window and stride <=
/// direct_largest_window.
bool direct_suits(const ConvolutionShape& shape);
bool winograd_suits(const ConvolutionShape& shape);
/// True if the machine has AVX512_BF16.
bool has_direct_weights_bf16();

}  // namespace roof::kernels
