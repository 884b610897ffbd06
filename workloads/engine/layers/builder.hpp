// State and helpers that the layers need to write themselves.
#pragma once

#include "workloads/engine/builder.hpp"
#include "workloads/engine/ir/choose.hpp"
#include "workloads/engine/ir/program.hpp"
#include "workloads/engine/layers/moments.hpp"
#include "workloads/engine/layers/parameters.hpp"
#include "workloads/engine/layers/settings.hpp"

#include <utility>
#include <vector>

namespace roof::ir {

using engine::begin_with_work;
using engine::pass_through;
using engine::readers;
using engine::to_work;
using engine::Unit;
using engine::write_simple;

using Running = engine::Running<Tensor>;

/// Output of a layer. The only reader of a batch norm may do the normalisation: a sum (`deferred`), or a convolution or
/// max pool that reads its ReLU (`scaled`).
struct Output {
    Tensor tensor;  ///< if deferred or scaled: the source of the batch norm
    ChannelNumbers channels;
    Tensor weight;        ///< batch norm only
    Tensor sum, squares;  ///< convolution only: of the values per channel, if it computes them
    bool deferred = false;
    bool scaled = false;
    bool reduced = false;  ///< backward: the sums over its gradient exist already
    /// Batch norm and the convolution before it: both find their gradients from moments of the convolution's source.
    SourceMoments moments;
    int partner = -1;  ///< backward: the other batch norm of a sum, with the same gradient
    /// Backward: of the max pool that alone reads the layer, which leaves its gradient to the batch norm.
    struct {
        int layer = -1;
        Tensor winners;
    } pool;
};

class Builder : public engine::Builder<Program, Tensor> {
  public:
    Builder(const model::Graph& graph, const Settings& settings, const Choosers& choosers, Program& program);

    const Settings& settings;
    const Choosers& choosers;
    int image_block;  ///< the first convolution reads images by space to depth in squares of so many positions; 0: as they are
    Parameters parameters;
    Tensor images, labels_given, labels, row_losses;
    std::vector<Output> outputs;                  ///< indexed by layer
    std::vector<std::pair<Tensor, int>> waiting;  ///< narrow gradients of weights, with their layers
    std::vector<std::function<void()>> updates;   ///< of parameters that sgd() does not update itself

    Output& output(int index) { return outputs[static_cast<std::size_t>(index)]; }
    Tensor input(const Unit& unit) { return output(source(unit)).tensor; }

    /// Returns the shape of the layer's output for a batch, without memory.
    Tensor map(int index) const;
    /// Returns a new tensor for a gradient of the layer's output.
    Tensor gradient_like(int index);
    Tensor channels_of(int index) const { return {.batch = 1, .channels = graph.layer(index).output.channels}; }

    void put(const Unit& unit, const Tensor& tensor);
    /// Whether convolutions write gradients of weights in the precision of the activations.
    bool writes_narrow_gradients() const { return settings.narrow() && !choosers.whole_gradients; }
    /// Returns the sum of the gradient's shares; with `most` 2, up to two shares stay separate.
    std::vector<Share> shares(int layer, std::size_t most);
    Share gradient(int layer) { return shares(layer, 1).front(); }
    /// Returns a share that no other layer reads, or a new tensor, for the sum or the masked gradient.
    Tensor over(const std::vector<Share>& shares);

    /// Marks the gradient of the layer's weight or bias as complete, in fp32, by the open stage.
    void completed(int layer, bool is_bias);
    /// Takes the narrow gradient of a layer's weights. The conversion to fp32, which completes it, waits for others.
    void widen_later(const Tensor& narrow, int layer);
    /// Appends one conversion of all that wait, if any, to the open stage.
    void widen_waiting();
};

/// Appends the product of operands that count as being of this precision, with bias and ReLU in an operation of their own where
/// the library does not add them.
void append_product(Program& program, const Choosers& choosers, Precision precision, Multiply product);

/// Elementwise work: FLOPs per value of the first, and the bytes of each tensor once.
Work moving(const std::vector<Tensor>& read, const std::vector<Tensor>& written, double flops_each);

}  // namespace roof::ir
