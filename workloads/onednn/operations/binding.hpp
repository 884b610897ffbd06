// Binds a step's list of operations to oneDNN's primitives and to this project's kernels. A tensor gets the layout of
// what writes it; an operation that needs another layout reads a copy.
#pragma once

#include "workloads/engine/layers/layers.hpp"
#include "workloads/onednn/convolution/passes.hpp"
#include "workloads/onednn/operations/batch_norm_passes.hpp"
#include "workloads/onednn/operations/trained.hpp"
#include "workloads/onednn/program/program.hpp"

#include <map>
#include <set>
#include <vector>

namespace roof::onednn {

/// A pooling, from its forward to its backward pass.
struct Pooling {
    PoolingPasses passes;
    Tensor winners;
};

class Binding {
  public:
    /// `state` must outlive the program, the others the binding.
    Binding(const ir::StepProgram& list, const Convolutions& chosen, const Settings& settings, Program& program,
            StepState& state);

    /// Appends all operations, stage by stage.
    void append();

    const ir::StepProgram& list;
    const Convolutions& convolutions;
    const Settings& settings;
    Program& program;
    StepState& state;
    std::vector<Trained> trained;  ///< in the order of the graph's parameters

    /// Returns the tensor in the layout that it has, a gradient in that of its values.
    Tensor read(const ir::Tensor& tensor);
    /// Returns the tensor in this layout and precision: itself or a copy, which later readers share.
    Tensor read(const ir::Tensor& tensor, const Desc& layout);
    /// Returns the tensor, to be written in this layout, in the memory of earlier values if they had that layout.
    Tensor write(const ir::Tensor& tensor, const Desc& layout);
    bool has(const ir::Tensor& tensor) const { return places_.contains(list.place_of(tensor.block)); }
    Desc layout_of(int block) const { return places_.at(list.place_of(block)).desc(); }
    /// The tensor is this one.
    void set(const ir::Tensor& tensor, const Tensor& place) { places_[list.place_of(tensor.block)] = place; }

    /// The parameter of a part of the blocks of values, copies, gradients or momenta.
    Trained& trained_of(const ir::Tensor& piece);
    /// Makes it in this layout, with dimensions as PyTorch has them, and its gradient if that is stored.
    Trained& train(const ir::Tensor& piece, const Desc& layout, const Dims& dims, bool stores_gradient = true);

    // From an operation to those that need what it found, by a block of theirs.
    std::map<int, Norm> norms;        ///< by the scale: statistics that the sum or the normalisation behind computes
    std::map<int, NormSum> sums;      ///< by the scale of the first batch norm
    ir::ReduceGradient reduction;     ///< the last of a batch norm, which the NormGradient behind it computes
    std::map<int, Pooling> poolings;  ///< by the result
    std::set<int> cut;                ///< maps of which a copied part begins or ends within a block of channels

  private:
    std::map<int, Tensor> places_;               ///< by block
    std::map<int, std::vector<Tensor>> copies_;  ///< of a block, in other layouts
};

/// {batch, channels, height, width}
inline Dims dims_of(const ir::Tensor& tensor)
{
    return {tensor.batch, tensor.channels, tensor.height, tensor.width};
}
/// Dense, in PyTorch's order.
inline Desc plain(const ir::Tensor& tensor)
{
    return plain(dims_of(tensor), tensor.precision);
}

// Each appends one operation. A batch norm's passes are appended with the second of its operations.
void bind(Binding& to, const ir::Convolve& operation);
void bind(Binding& to, const ir::Multiply& operation);
void bind(Binding& to, const ir::AddBias& operation);
void bind(Binding& to, const ir::Statistics& operation);
void bind(Binding& to, const ir::Normalise& operation);
void bind(Binding& to, const ir::ReduceGradient& operation);
void bind(Binding& to, const ir::NormGradient& operation);
void bind(Binding& to, const ir::MaskGradient& operation);
void bind(Binding& to, const ir::MaxPool& operation);
void bind(Binding& to, const ir::MaxPoolGradient& operation);
void bind(Binding& to, const ir::AveragePool& operation);
void bind(Binding& to, const ir::AveragePoolGradient& operation);
void bind(Binding& to, const ir::Resize& operation);
void bind(Binding& to, const ir::ResizeGradient& operation);
void bind(Binding& to, const ir::Activate& operation);
void bind(Binding& to, const ir::Attention& operation);
void bind(Binding& to, const ir::AttentionGradient& operation);
void bind(Binding& to, const ir::AttendCached& operation);
void bind(Binding& to, const ir::Embed& operation);
void bind(Binding& to, const ir::EmbedGradient& operation);
void bind(Binding& to, const ir::AddPositions& operation);
void bind(Binding& to, const ir::AddPositionsGradient& operation);
void bind(Binding& to, const ir::TakePositions& operation);
void bind(Binding& to, const ir::LayerNorm& operation);
void bind(Binding& to, const ir::LayerNormGradient& operation);
void bind(Binding& to, const ir::CopyChannels& operation);
void bind(Binding& to, const ir::Scale& operation);
void bind(Binding& to, const ir::ScaleGradient& operation);
void bind(Binding& to, const ir::Dropout& operation);
void bind(Binding& to, const ir::Loss& operation);
void bind(Binding& to, const ir::Widen& operation);
void bind(Binding& to, const ir::Descend& operation);
void bind(Binding& to, const ir::DescendProduct& operation);
void bind(Binding& to, const ir::Turn& operation);

/// The layout of the weights of a linear layer.
Desc layout_of_weights(const ir::Multiply& operation);
/// Appends the sums of a gradient that is of no batch norm: a linear layer's bias gradient, after that of its ReLU.
void bind_bias_gradient(Binding& to, const ir::ReduceGradient& operation);
/// Adds the maps of which a copied part begins or ends within a block of channels.
void find_cuts(const ir::Program& program, std::set<int>& cut);

/// What a loop does with the sum: nothing; max(sum, 0); zero where the ReLU clipped it.
enum class ReluPass { none, forward, backward };
/// Appends y = left, or left + right, then the ReLU. `result`: the ReLU's, for the backward pass. y may be a term.
void append_sum(Program& program, const Tensor& y, const Tensor& left, const Tensor& right, ReluPass relu,
                const Tensor& result = {});
/// Appends the decisions of a dropout. `state` must outlive the program.
void append_dropout(Program& program, const StepState& state, const ir::Dropout& dropout, const Tensor& from,
                    const Tensor& to);

}  // namespace roof::onednn
