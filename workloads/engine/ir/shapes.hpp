// Passes of convolutions and batch norms as libraries compute them in one operation, and the layout by space to depth.
#pragma once

#include "workloads/engine/recipe.hpp"
#include "workloads/model/convolution.hpp"

#include <cstddef>
#include <string>

namespace roof::ir {

using model::ConvolutionPass;
using model::Pass;

/// Returns the shape of the pass alone, without what is before and behind it.
ConvolutionPass bare(ConvolutionPass shape);
bool is_bare(const ConvolutionPass& shape);

/// Space to depth: returns the same pass where each square of stride x stride positions of the padded source is one
/// position with the channels of all of them, and zeros up to a multiple of 8. Its stride is 1 and it has no padding:
/// fewer taps, and enough channels for tensor cores.
ConvolutionPass space_to_depth(ConvolutionPass shape);

inline constexpr std::size_t no_place = ~std::size_t{0};

/// Weights [o][taps][taps][stored] of a convolution whose weights are [o][channels][size][size] in PyTorch.
struct DepthWeights {
    std::size_t block = 0;  ///< 0: not by depth
    std::size_t size = 1;
    std::size_t channels = 1;
    std::size_t stored = 1;  ///< channels of a position; those after block * block * channels are zeros

    constexpr std::size_t taps() const { return (size + block - 1) / block; }
    /// Returns the index in PyTorch's weights of stored value k; no_place if there is none.
    constexpr std::size_t pytorch_place(std::size_t k) const
    {
        const std::size_t channel = k % stored;
        const std::size_t tap = k / stored;
        const std::size_t within = channel / channels;
        const std::size_t y = tap / taps() % taps() * block + within / block;
        const std::size_t x = tap % taps() * block + within % block;
        if (within >= block * block || y >= size || x >= size) return no_place;
        const std::size_t output = tap / taps() / taps();
        return ((output * channels + channel % channels) * size + y) * size + x;
    }
};

/// Images [n][channels][height][width].
struct DepthImages {
    int block, channels, height, width, padding;

    /// Returns the index of the value at this row, column and channel of an image by depth; no_place for a zero.
    constexpr std::size_t place(std::size_t image, int row, int column, int channel) const
    {
        const int within = channel / channels;
        const int y = row * block + within / block - padding;
        const int x = column * block + within % block - padding;
        if (within >= block * block || y < 0 || y >= height || x < 0 || x >= width) return no_place;
        const std::size_t plane =
            image * static_cast<std::size_t>(channels) + static_cast<std::size_t>(channel % channels);
        return (plane * static_cast<std::size_t>(height) + static_cast<std::size_t>(y)) *
                   static_cast<std::size_t>(width) +
               static_cast<std::size_t>(x);
    }
};

/// A pass of a batch norm. Sums and values per channel are fp32.
struct NormShape {
    bool backward = false;
    int batch = 1;
    model::Shape map;
    Precision precision = Precision::fp32;  ///< of the maps; tf32 is stored as fp32
    bool relu = false;                      ///< fused ReLU; backward: fused gradient of the ReLU
    float epsilon = engine::batch_norm_epsilon;

    auto operator<=>(const NormShape&) const = default;
};
/// Returns "batch norm of 16x64x56x56, relu", and an epsilon other than the usual.
std::string text(const NormShape& shape);

/// A pass of attention (positions.hpp).
struct AttentionPass {
    bool backward = false;
    int batch = 1, positions = 1;
    int heads = 1, kv_heads = 1, channels = 1;  ///< channels of a head
    bool causal = false;
    Precision precision = Precision::fp32;  ///< of the maps
    bool ordered = false;                   ///< backward: no sum in an order that differs from run to run

    auto operator<=>(const AttentionPass&) const = default;
};
/// Returns "attention of 2x1024, 12 heads of 64, of keys 4, causal".
std::string text(const AttentionPass& shape);

}  // namespace roof::ir
