// Convolution kernels of this project. A plan computes one pass of one shape, of maps in fp32 or bf16 and weights in
// fp32. Channels are stored in blocks as wide as a vector:
//   maps     [image][channels / lanes][height][width][lanes]
//   weights  [outputs / lanes][inputs / lanes][window][window][inputs of the block][outputs of the block]
#pragma once

#include "ert/base/units.hpp"
#include "ert/method/bench/work.hpp"
#include "workloads/engine/algorithm.hpp"
#include "workloads/kernels/elements.hpp"
#include "workloads/model/convolution.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace roof::kernels {

using engine::Algorithm;
using model::ConvolutionPass;
using model::Pass;
struct DirectLoops;
struct WinogradLoops;

inline constexpr int direct_largest_window = 16;
inline constexpr int direct_largest_stride = 2;

/// Values or gradients in the layouts above. A pass writes one; backward_weights also writes `bias`.
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
    std::function<void(const ConvolutionOperands&)> run{};
    std::vector<Refetch> refetched{};
};

/// All kernels for a pass without dilation; empty if there are none. Without groups, both channel counts must be
/// multiples of twice convolution_lanes(). Direct: window <= direct_largest_window, stride <= direct_largest_stride.
/// Winograd's F(4x4, 3x3): 3x3, stride 1, padding 1; 36 products per pair of channels give 4x4 results, for which the
/// definition takes 144. Maps in bf16: the dot product first ("roof:direct:avx512_bf16"), which rounds weights to bf16,
/// then the kernels that widen the maps to fp32 ("roof:direct:avx512", "roof:wino_4x3:avx512"), which do not. The dot
/// product needs AVX512_BF16, and for backward_weights two images. As many groups as channels: backward_weights for
/// windows of 3, 5 and 7, of maps in fp32 in blocks of 16 channels, the last one whole in memory, and weights [channels
/// / 16][window][window][16].
std::vector<ConvolutionPlan> convolution_plans(const ConvolutionPass& pass, int threads);

/// The plan by these loops of forward and backward_data, or of backward_weights, without `executed`. Results are
/// bitwise reproducible for equal numbers of threads.
ConvolutionPlan plan_direct_maps(const DirectLoops& loops, const ConvolutionPass& pass, int threads);
ConvolutionPlan plan_direct_gradient(const DirectLoops& loops, const ConvolutionPass& pass, int threads);
ConvolutionPlan plan_winograd_maps(const WinogradLoops& loops, const ConvolutionPass& pass, int threads);
ConvolutionPlan plan_winograd_gradient(const WinogradLoops& loops, const ConvolutionPass& pass, int threads);
ConvolutionPlan plan_depthwise_gradient(const ConvolutionPass& pass);
/// The plan of what has scratch(), in numbers, and run(operands).
template <class Working>
ConvolutionPlan plan_of(const char* name, const Working& working)
{
    return {.name = name,
            .workspace = working.scratch(),
            .run = [working](const ConvolutionOperands& of) { working.run(of); },
            .refetched = working.refetched()};
}

/// Channels per vector: 16 with AVX-512, 8 with AVX2, 0 with neither. With 0 there are no plans.
int convolution_lanes();

}  // namespace roof::kernels
