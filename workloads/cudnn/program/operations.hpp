// A training step as data: tensors, and the operations on them. What runs an operation is elsewhere: cuDNN, cuBLASLt and the
// kernels beside this folder on a GPU; plain loops in the tests. Both take the arithmetic from formulas.hpp.
#pragma once

#include "ert/base/precision.hpp"
#include "workloads/cudnn/program/convolution_shape.hpp"
#include "workloads/cudnn/program/norm_shape.hpp"

#include <cstddef>
#include <cstdint>
#include <variant>

namespace roof::cudnn {

/// Channels-last: value (n, y, x, c) is number ((n * height + y) * width + x) * channels + c.
struct Tensor {
    int batch = 0;
    int channels = 1;
    int height = 1;
    int width = 1;
    Precision precision = Precision::fp32;  ///< fp32, bf16, fp16; int8 for a byte of any meaning
    int block = -1;                         ///< of the memory plan; -1: there is no tensor
    std::size_t begin = 0;                  ///< bytes into the block

    explicit operator bool() const { return block >= 0; }
    /// Places of all images: values per channel.
    std::size_t rows() const
    {
        return static_cast<std::size_t>(batch) * static_cast<std::size_t>(height) * static_cast<std::size_t>(width);
    }
    std::size_t elements() const { return rows() * static_cast<std::size_t>(channels); }
    std::size_t bytes() const { return elements() * static_cast<std::size_t>(traits(precision).storage_bytes); }
};

/// What a step hands to the next one, on the device: kernels read and write it, so that a captured graph can be repeated.
struct StepState {
    std::uint32_t step = 0;     ///< steps that were begun before this one; dropout draws from it
    std::int32_t finite = 1;    ///< 0: some gradient of this step is not, and the update leaves all as it is
    std::uint32_t good = 0;     ///< updates since the loss scale changed
    std::uint32_t skipped = 0;  ///< updates left out so far
    float loss_scale = 1;       ///< what the loss's gradient was multiplied by
    float loss = 0;             ///< of the last forward pass
};

/// Images as they come, [n][c][y][x] in fp32, into channels-last and the storage precision; and their labels. What they came in is
/// free afterwards for the next batch.
struct ImportImages {
    Tensor from{}, to{};
    Tensor labels_from{}, labels{};
};

/// Any pass of a convolution. Read and written are, by the pass: source, weights -> result; weights, result -> source; source,
/// result -> weights. `plan` is the number of what was chosen to compute it.
struct Convolve {
    ConvolutionShape shape{};
    Tensor source{}, weights{}, result{}, bias{}, workspace{};
    int plan = -1;
};

/// source [n][inputs], weights [outputs][inputs], result [n][outputs]; read and written as of a convolution. A bias and a ReLU are
/// the forward pass's.
struct Multiply {
    Pass pass = Pass::forward;
    Tensor source{}, weights{}, result{}, bias{}, workspace{};
    bool relu = false;
    bool rounded = false;  ///< tf32
    int plan = -1;
};

/// values += bias of its channel, and the ReLU of that.
struct AddBias {
    Tensor values{}, bias{};
    bool relu = false;
};

/// A batch norm in training. Per channel, fp32: what the forward pass finds and the backward pass needs.
struct ChannelNumbers {
    Tensor mean{}, inverse_deviation{};
    Tensor scale{}, shift{};  ///< of the normalisation: y = x * scale + shift
};

/// Mean and variance of each channel, what follows from them, and the running statistics.
struct Statistics {
    Tensor source{}, weight{}, bias{};
    ChannelNumbers channels{};
    Tensor running_mean{}, running_variance{};
    Tensor partial{};  ///< sums of slabs of rows
};

/// result = source * scale + shift, plus another tensor, scaled and shifted or as it is, and the ReLU of that.
struct Normalise {
    Tensor source{}, scale{}, shift{};
    Tensor other{}, other_scale{}, other_shift{};
    Tensor result{};
    bool relu = false;
};

/// The gradient g of what was before a ReLU: one consumer's share or the sum of two, where `output` > 0 (everywhere without it).
/// Its sums over each channel: of g, and of g times the normalised source if that is given. Written, if wanted: g itself.
struct ReduceGradient {
    Tensor share{}, other_share{}, output{};
    Tensor source{};
    ChannelNumbers channels{};        ///< of the source
    Tensor result{};                  ///< g
    Tensor sum{}, sum_of_products{};  ///< gradients of the bias and of the batch norm's weight, fp32
    Tensor partial{};
};

/// The gradient of a batch norm's source from g, which is masked by `output` on the way if that is given.
struct NormGradient {
    Tensor gradient{}, output{}, source{}, weight{};
    ChannelNumbers channels{};
    Tensor sum{}, sum_of_products{}, result{};
};

/// A batch norm in training by a library, in one operation: what Statistics and Normalise do. Scale and shift are left out.
struct LibraryNorm {
    NormShape shape{};
    Tensor source{}, weight{}, bias{};
    ChannelNumbers channels{};
    Tensor running_mean{}, running_variance{};
    Tensor result{}, workspace{};
    int plan = -1;
};

/// Its way back: what ReduceGradient and NormGradient do. `output`: of the ReLU, if the shape has one.
struct LibraryNormGradient {
    NormShape shape{};
    Tensor gradient{}, output{}, source{}, weight{};
    ChannelNumbers channels{};
    Tensor sum{}, sum_of_products{};
    Tensor result{}, workspace{};
    int plan = -1;
};

/// The gradient before a ReLU, or the sum of two shares, without any sum over channels. Result may be a share's memory.
struct MaskGradient {
    Tensor share{}, other_share{}, output{}, result{};
};

struct Relu {
    Tensor source{}, result{};
};

struct MaxPool {
    Tensor source{}, result{}, winners{};  ///< winners: place in the window, a byte each
    model::Window window{};
};

/// source: the gradient that is written; result: the one that is read.
struct MaxPoolGradient {
    Tensor source{}, result{}, winners{};
    model::Window window{};
};

/// Over the whole map.
struct AveragePool {
    Tensor source{}, result{};
};
struct AveragePoolGradient {
    Tensor source{}, result{};
};

struct Dropout {
    Tensor source{}, result{};
    std::uint32_t layer = 0;
    float probability = 0;
    std::uint32_t first = 0;  ///< place of the first value in the batch of all ranks, which decide as one would
};

/// Softmax cross-entropy over rows of fp32 logits, the mean over the batch, and the logits' gradient times the loss scale.
struct Loss {
    Tensor logits{}, labels{}, gradient{};
    Tensor row_losses{};  ///< fp32
};

/// To fp32.
struct Widen {
    Tensor from{}, to{};
};

/// Whether each gradient is a finite number.
struct CheckFinite {
    Tensor gradients{};
};

/// All parameters at once: they, their gradients, their momenta and their narrow copies lie in the same order, each in a piece.
struct Descend {
    Tensor values{}, gradients{}, momenta{}, copies{};
    float learning_rate = 0;
    bool scaled = false;  ///< the gradients are those of a scaled loss, and may not be finite
};

/// The next step: its number, and the loss scale that the finiteness of this one's gradients asks for.
struct Advance {
    bool scaled = false;
};

/// Sums over rows are made slab by slab, and then over the slabs, always in the same order.
constexpr std::size_t slabs_of(std::size_t rows, std::size_t channels)
{
    constexpr std::size_t least_rows = 64;
    constexpr std::size_t most_slabs = 256;
    const std::size_t most = most_slabs * 256 / (channels > 256 ? channels : 256);
    const std::size_t slabs = (rows + least_rows - 1) / least_rows;
    return slabs < most ? slabs : (most > 0 ? most : 1);
}

using Operation =
    std::variant<ImportImages, Convolve, Multiply, AddBias, Statistics, Normalise, ReduceGradient, NormGradient,
                 LibraryNorm, LibraryNormGradient, MaskGradient, Relu, MaxPool, MaxPoolGradient, AveragePool,
                 AveragePoolGradient, Dropout, Loss, Widen, CheckFinite, Descend, Advance>;

}  // namespace roof::cudnn
