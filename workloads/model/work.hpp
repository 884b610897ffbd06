// Work of a layer per launch: FLOPs and compulsory bytes per pass. Convolution and linear layers count 2 FLOPs per
// multiply-add of the full window, without bias, as MLPerf; all others are elementwise (formulas: docs/method.md).
#pragma once

#include "ert/base/names.hpp"
#include "ert/base/precision.hpp"
#include "ert/base/units.hpp"
#include "workloads/model/graph.hpp"

#include <string>

namespace roof::model {

/// FLOPs and bytes of one pass of a layer over a batch.
struct PassWork {
    Flops flops;
    Bytes compulsory;  ///< each operand moved once; only the input positions that some window reads
    Bytes no_reuse;    ///< each multiply-add loads both operands again; equals compulsory for elementwise work
    Bytes written;     ///< of the compulsory bytes
};

/// SGD with momentum, and weight decay as a part of the gradient; or AdamW, with weight decay apart from it.
enum class Optimizer { sgd, adamw };

constexpr EnumNames<Optimizer::adamw> names_of(Optimizer)
{
    return {"optimizer", {"sgd", "adamw"}};
}

struct UpdateCost {
    double flops;  ///< per parameter
    int averages;  ///< of earlier gradients, per parameter
};
constexpr UpdateCost cost_of(Optimizer optimizer)
{
    return optimizer == Optimizer::sgd ? UpdateCost{.flops = 6, .averages = 1} : UpdateCost{.flops = 14, .averages = 2};
}

struct LayerWork {
    PassWork forward;
    PassWork backward_data;       ///< zero if the input needs no gradient; for batch norm the whole backward pass
    PassWork backward_weights;    ///< convolution, linear, embedding and positions only
    PassWork update;              ///< see update_work()
    double executed = 1;          ///< attention: share of its FLOPs that a causal mask leaves
    long long multiply_adds = 0;  ///< full window, whole batch; the same for each pass
    long long multiply_adds_unpadded = 0;  ///< without the taps that fall on padding

    const PassWork& of(Pass pass) const
    {
        return pass == Pass::forward ? forward : pass == Pass::backward_data ? backward_data : backward_weights;
    }
};

/// Returns true for convolution and linear layers and attention, whose FLOPs are the model's.
bool is_contraction(LayerKind kind);

/// Returns the pairs of positions of which one reads the other, for one image and head: all, or of a causal attention
/// no later ones and as many as it reaches.
long long attended_pairs(const Layer& layer);

/// Reads value, gradient and averages of each parameter, and writes all but the gradient: 20 bytes in fp32 with SGD, 28
/// with AdamW. Formats below 4 bytes keep fp32 masters, and one more move writes the narrow copy (22 bytes in bf16).
PassWork update_work(double parameters, Precision precision, Optimizer optimizer);

/// Per logit: the softmax, and its gradient if the step trains.
constexpr double loss_flops(bool trains)
{
    return trains ? 5 : 3;
}

/// Softmax cross-entropy behind the last layer, forward: reads logits in fp32 and writes any gradient.
PassWork loss_work(const Graph& graph, int batch, Precision precision, bool trains);

/// Returns the work of layer `layer` over `batch` images.
LayerWork work_of(const Graph& graph, int layer, int batch, Precision precision, Optimizer optimizer = Optimizer::sgd);

/// Returns the positions of an axis of `extent` that some window reads, of as many windows as results.
int positions_read(int extent, int results, const Window& window);

Convolution convolution_of(const Graph& graph, int layer, int batch);

/// Returns "16x64x56x56".
std::string text(int batch, const Shape& map);
/// Returns "16x64x56x56 to 64, 3x3 stride 1 padding 1", with groups, dilation and what else the pass computes.
std::string text(const ConvolutionPass& pass);

/// Returns the multiply-adds of one pass without the taps that fall on padding.
long long unpadded_multiply_adds(const Convolution& convolution);

/// The points per axis of a Winograd tile with n of its m outputs inside the map: all m + 2, or n + 2.
enum class CutTiles { as_whole, by_need };

/// Returns the multiply-adds of Winograd's F(m x m, 3 x 3), m = `tile`, in any pass of a 3x3 convolution with stride 1:
/// (m + 2)^2 per full tile of m x m outputs and pair of channels. Transforms are not counted.
long long winograd_multiply_adds(const Convolution& convolution, int tile, CutTiles cut = CutTiles::as_whole);

/// Totals of one step.
struct StepWork {
    Flops forward, backward_data, backward_weights;  ///< convolution and linear layers, attention over all pairs
    Flops elementwise;                               ///< all other layers, forward and backward; without the update
    Flops update;
    Flops step() const { return forward + backward_data + backward_weights; }
    void add(const LayerWork& layer, bool is_contraction);
};
StepWork work_of(const Graph& graph, int batch, Precision precision, Optimizer optimizer = Optimizer::sgd);

}  // namespace roof::model
