// A training step as data. Libraries and kernels of an engine execute the operations on a device, plain loops in the
// tests. Both use the arithmetic of formulas.hpp.
#pragma once

#include "workloads/engine/ir/positions.hpp"
#include "workloads/engine/ir/shapes.hpp"
#include "workloads/engine/ir/step_state.hpp"
#include "workloads/engine/ir/tensor.hpp"
#include "workloads/model/graph.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

namespace roof::ir {

/// Converts images from [n][c][y][x] fp32 to channels-last in the storage precision, and copies their labels. With a
/// block of 1, 2, 4, 16 or 32: space to depth of 3 channels, see space_to_depth(); 0: position by position.
struct ImportImages {
    Tensor from{}, to{};
    Tensor labels_from{}, labels{};
    int block = 0;
    int padding = 0;  ///< positions of zeros around an image
};

/// Clears the values of a gradient that belong to no weight, see DepthWeights.
struct ClearUnused {
    Tensor gradient{};  ///< [o][taps][taps][stored]
    DepthWeights weights{};
};

/// One pass: source, weights -> result; weights, result -> source; or source, result -> weights and any bias. `plan`:
/// the implementation. `scale`, `shift`: of a prologue; `sum`, `squares`: of statistics; fp32, a value per channel.
struct Convolve {
    ConvolutionPass shape{};
    Tensor source{}, weights{}, result{}, bias{}, workspace{};
    Tensor scale{}, shift{}, sum{}, squares{};
    int plan = -1;
};

/// source [n][inputs], weights [outputs][inputs], result [n][outputs]; inputs and outputs per pass as in Convolve. The
/// pass of the weights writes the gradient of any bias. ReLU: forward only. With `before_gelu`, forward the sums are
/// written there, and their GELU by tanh is the result; of the data, the gradient is times its slope there.
struct Multiply {
    Pass pass = Pass::forward;
    Tensor source{}, weights{}, result{}, bias{}, before_gelu{}, workspace{};
    bool relu = false;
    bool rounded = false;  ///< use tf32
    bool adds = false;     ///< to the values of the tensor that it writes
    int plan = -1;

    const Tensor& written() const
    {
        return pass == Pass::forward ? result : pass == Pass::backward_data ? source : weights;
    }
};

/// Adds the channel's bias to each value, then applies the ReLU.
struct AddBias {
    Tensor values{}, bias{};
    bool relu = false;
};

/// Values per channel of a batch norm, in fp32: the forward pass computes them, the backward pass reads them.
struct ChannelNumbers {
    Tensor mean{}, inverse_deviation{};
    Tensor scale{}, shift{};  ///< y = x * scale + shift
};

/// Computes mean and variance per channel, the values derived from them, and the running statistics. With `sum` and
/// `squares` of the source, which a convolution computed, it does not read the source.
struct Statistics {
    Tensor source{}, weight{}, bias{};
    Tensor sum{}, squares{};
    ChannelNumbers channels{};
    Tensor running_mean{}, running_variance{};
    Tensor partial{};  ///< sums of slabs of rows
    float epsilon = engine::batch_norm_epsilon;
};

/// Values in a byte of signs: the lowest bit is that of the first.
inline constexpr int signs_per_byte = 8;

/// result = source, optionally * scale + shift, plus optionally another tensor likewise, then the ReLU. `signs`: a bit
/// per value of the result, set where it is positive.
struct Normalise {
    Tensor source{}, scale{}, shift{};
    Tensor other{}, other_scale{}, other_shift{};
    Tensor result{}, signs{};
    bool relu = false;
};

/// The second batch norm of a sum of two: g is the gradient of both. Channels are a multiple of 8.
struct OtherNorm {
    Tensor source{}, weight{};
    ChannelNumbers channels{};
    Tensor sum{}, sum_of_products{}, result{};  ///< as of the first
};

/// The covariance of the columns of a source x [n][inputs], from x' x and the sums of its columns. It is stored as two
/// narrow numbers, of which the second is what the first leaves over; a product with both is as precise as one in fp32.
struct Covariance {
    Tensor products{}, sums{};  ///< fp32: [inputs][inputs], [inputs]
    int rows = 0;               ///< n
    Tensor halves{};            ///< [2][inputs][inputs], times `factor`, a power of two that makes the largest about 1
    Tensor mean{}, factor{};    ///< fp32: of the columns; one number
};

/// Statistics of the result y = x weights' of a product, without reading it, from the covariance of x.
struct MomentStatistics {
    Tensor spread{};   ///< [outputs][2][inputs], fp32: weights times the halves of the covariance
    Tensor weights{};  ///< [outputs][inputs]
    Tensor mean{}, factor{};
    int rows = 0;
    Tensor weight{}, bias{};  ///< of the batch norm
    ChannelNumbers channels{};
    Tensor running_mean{}, running_variance{};
    float epsilon = engine::batch_norm_epsilon;
};

/// From g' x, where g is the gradient of the batch norm's result: the gradients of the weights of both, and what the
/// gradient of x is the sum of. With a = weight * inverse_deviation and the mean p of g times the normalised y:
///   dx = g (a weights) + x (weights' slopes) + offset,   slopes = - a p inverse_deviation weights
struct MomentGradient {
    Tensor products{};  ///< g' x: [outputs][inputs], fp32
    Tensor spread{}, weights{}, mean{}, factor{};
    int rows = 0;
    Tensor sum{};  ///< of g per channel
    Tensor weight{};
    ChannelNumbers channels{};
    Tensor sum_of_products{};   ///< gradient of the batch norm's weight
    Tensor gradient{};          ///< of the weights, fp32
    Tensor scaled{}, slopes{};  ///< [outputs][inputs] as the weights
    Tensor shares{};            ///< a * (sum of g) / n per channel
};

/// result = - weights' shares - curvature' mean: what a gradient from moments is shifted by.
struct MomentOffset {
    Tensor weights{}, shares{};  ///< [outputs][inputs], [outputs]
    Tensor curvature{}, mean{};  ///< weights' slopes: [inputs][inputs], symmetric; [inputs]
    Tensor result{};             ///< [inputs]
};

/// The gradient g before a ReLU: one share or the sum of two, and 0 where the ReLU's output is 0, known from `output`,
/// from its `signs`, or, with `relu`, from the source and its channels; without any there is no ReLU. With `winners`, a
/// max pool of this window reads the ReLU, and the share is the gradient of its result. Sums per channel g, and g times
/// the normalised source if that is given. Optionally writes g. Of another batch norm it may write only the sum.
struct ReduceGradient {
    Tensor share{}, other_share{}, output{}, signs{};
    Tensor winners{};
    model::Window window{};
    bool relu = false;
    Tensor source{};
    ChannelNumbers channels{};        ///< of the source
    Tensor result{};                  ///< g
    Tensor sum{}, sum_of_products{};  ///< gradients of the bias and the batch norm's weight, fp32
    OtherNorm other_norm{};           ///< of which it needs neither weight nor result
    Tensor partial{};
};

/// Computes the gradient of a batch norm's source, or of two, from g, which is masked as in ReduceGradient.
struct NormGradient {
    Tensor gradient{}, output{};
    Tensor winners{};
    model::Window window{};
    bool relu = false;
    Tensor source{}, weight{};
    ChannelNumbers channels{};
    Tensor sum{}, sum_of_products{}, result{};
    OtherNorm other_norm{};
};

/// A batch norm in training by a library: Statistics and Normalise in one operation, without scale and shift.
struct LibraryNorm {
    NormShape shape{};
    Tensor source{}, weight{}, bias{};
    ChannelNumbers channels{};
    Tensor running_mean{}, running_variance{};
    Tensor result{}, workspace{};
    int plan = -1;
};

/// Its backward pass: ReduceGradient and NormGradient in one operation. `output`: of the ReLU, if the shape has one.
struct LibraryNormGradient {
    NormShape shape{};
    Tensor gradient{}, output{}, source{}, weight{};
    ChannelNumbers channels{};
    Tensor sum{}, sum_of_products{};
    Tensor result{}, workspace{};
    int plan = -1;
};

/// The gradient before a ReLU, or the sum of two shares, without channel sums. The result may overwrite a share.
struct MaskGradient {
    Tensor share{}, other_share{}, output{}, result{};
};

/// With `scale` and `shift`, the source is read as max(source * scale + shift, 0), rounded to its precision.
struct MaxPool {
    Tensor source{}, result{}, winners{};  ///< winners: position in the window, one byte each
    model::Window window{};
    Tensor scale{}, shift{};
};

/// Reads the gradient of `result` and writes that of `source`.
struct MaxPoolGradient {
    Tensor source{}, result{}, winners{};
    model::Window window{};
};

/// Average over a window, whose padding counts as zeros.
struct AveragePool {
    Tensor source{}, result{};
    model::Window window{};
};
/// Reads the gradient of `result` and writes that of `source`.
struct AveragePoolGradient {
    Tensor source{}, result{};
    model::Window window{};
};

/// The source in the size of the result, whose place y reads it at r = (y + 1/2) * source's height / own height - 1/2,
/// within its edges: its place i has the weight max(0, 1 - |i - r|), down and across.
struct Resize {
    Tensor source{}, result{};
};
/// Reads the gradient of `result` and writes that of `source`.
struct ResizeGradient {
    Tensor source{}, result{};
};

/// result = f(source), see activations.hpp; with a gradient gradient * f'(source), which may overwrite that.
struct Activate {
    model::LayerKind kind = model::LayerKind::relu6;
    Tensor source{}, gradient{}, result{};
};

/// Channels to, to + 1, ... of the result, `count` of them, are channels from, from + 1, ... of the source; zeros where
/// it has no such channel. With `order`, int32, channel k of the result is channel order[k] of the source.
struct CopyChannels {
    Tensor source{}, result{};
    int from = 0, to = 0, count = 0;
    Tensor order{};
};

/// result = source * factor, which is a map of the same shape, or has one value for each channel and image. With an
/// activation, of the source.
struct Scale {
    Tensor source{}, factor{}, result{};
    std::optional<model::LayerKind> activation{};
};
/// From the gradient of the result: to_source = gradient * factor, which may overwrite the gradient; to_factor =
/// gradient * source, summed over the positions where the factor has one value for them.
struct ScaleGradient {
    Tensor gradient{}, source{}, factor{};
    Tensor to_source{}, to_factor{};
};

struct Dropout {
    Tensor source{}, result{};
    std::uint32_t layer = 0;
    float probability = 0;
    std::uint32_t first =
        0;  ///< index of the first value in the batch of all ranks, so that ranks drop what one rank would
};

/// Softmax cross-entropy of the logits of each position, which has a label, computed in fp32: the mean over the batch,
/// and the logits' gradient times the loss scale, if there is one. The gradient may overwrite the logits. Channels
/// beyond the classes are no logits, and their gradients are 0.
struct Loss {
    Tensor logits{}, labels{}, gradient{};
    int classes = 0;
    Tensor row_losses{};  ///< fp32, of each position
};

/// Converts to fp32, all in one launch.
struct Widen {
    static constexpr std::size_t most = 64;
    std::vector<Tensor> from{}, to{};
};

/// Checks that each gradient is finite.
struct CheckFinite {
    Tensor gradients{};
};

/// Updates all parameters but those of a DescendProduct, by AdamW if it has `squares`, the averages of squared
/// gradients, else by SGD. Values, gradients, momenta, squares and narrow copies have the same order, each in one
/// piece.
struct Descend {
    Tensor values{}, gradients{}, momenta{}, squares{}, copies{};
    float learning_rate = 0;
    bool scaled = false;  ///< the loss was scaled: gradients may not be finite
};

/// As Descend by SGD for a linear layer's weights, whose gradient, the product of source and result gradient, is not
/// stored.
struct DescendProduct {
    Tensor source{}, gradient{};
    Tensor values{}, momenta{}, copies{};
    float learning_rate = 0;
};

/// Advances the state to the next step, with a new loss scale if the loss is scaled.
struct Advance {
    bool scaled = false;
};

using Operation =
    std::variant<ImportImages, ClearUnused, Convolve, Multiply, AddBias, Statistics, Normalise, ReduceGradient,
                 NormGradient, Covariance, MomentStatistics, MomentGradient, MomentOffset, LibraryNorm,
                 LibraryNormGradient, LayerNorm, LayerNormGradient, Attention, AttentionGradient, MaskGradient, MaxPool,
                 MaxPoolGradient, AveragePool, AveragePoolGradient, Activate, CopyChannels, Scale, ScaleGradient,
                 Dropout, Loss, Widen, CheckFinite, Descend, DescendProduct, Advance, Embed, EmbedGradient,
                 AddPositions, AddPositionsGradient, TakePositions, AttendCached, Turn, Resize, ResizeGradient>;

}  // namespace roof::ir
