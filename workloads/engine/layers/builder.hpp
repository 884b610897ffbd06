// What the layers need to write themselves as operations: the graph, the shares of each gradient, and a tape. A layer
// appends its forward pass at once and puts its backward pass on the tape, which is played from its end.
#pragma once

#include "ert/base/text.hpp"
#include "workloads/engine/ir/choose.hpp"
#include "workloads/engine/ir/program.hpp"
#include "workloads/engine/layers/moments.hpp"
#include "workloads/engine/layers/parameters.hpp"
#include "workloads/engine/layers/units.hpp"
#include "workloads/engine/settings.hpp"
#include "workloads/model/work.hpp"

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace roof::ir {

/// A batch norm's running statistics, [channels] each.
struct Running {
    std::string layer;
    Tensor mean, variance;
};

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

/// FLOPs of a pass, and the traffic without reuse of one with products. What it moves is that of its operations.
Work to_work(const model::PassWork& work);

class Builder {
  public:
    /// One consumer's share of a gradient. `shared`: it is read again later and must not be overwritten.
    struct Share {
        Tensor tensor;
        bool shared = false;
    };

    /// All must outlive the builder.
    Builder(const model::Graph& graph, const Settings& settings, const Choosers& choosers, Program& program);

    const model::Graph& graph;
    const Settings& settings;
    const Choosers& choosers;
    Program& program;
    int image_block;  ///< the first convolution reads images by space to depth in squares of so many positions; 0: as they are
    Parameters parameters;
    Tensor images, labels_given, labels, row_losses;
    std::vector<Output> outputs;  ///< indexed by layer
    std::vector<Running> running;
    std::vector<Tensor> caches;                          ///< as in StepProgram
    std::map<std::string, int, std::less<>> algorithms;  ///< passes of convolutions by algorithm
    std::vector<std::function<void()>> tape;
    std::map<int, Tensor> gradients_of_slices;    ///< by the layer that is cut
    std::vector<std::pair<Tensor, int>> waiting;  ///< narrow gradients of weights, with their layers
    std::vector<std::function<void()>> updates;   ///< of parameters that descend() does not update itself

    const model::Layer& layer(const Unit& unit) const { return graph.layer(unit.layer); }
    /// The first of the layer's inputs.
    int source(const Unit& unit) const { return layer(unit).inputs.front(); }
    bool is_image(int index) const { return index == 0; }
    model::LayerWork work(int index) const { return model::work_of(graph, index, settings.batch, settings.precision); }

    /// Whether the layer is written as a convolution.
    bool is_convolved(int index) const
    {
        return graph.layer(index).kind == model::LayerKind::convolution ||
               (graph.is_of_positions(index) && choosers.convolves_positions);
    }

    /// Opens the stage of these layers, "bn1+relu", of the first one's kind.
    void begin(const std::vector<int>& layers, Phase phase);
    void begin(const Unit& unit, Phase phase)
    {
        begin(unit.fused() ? std::vector{unit.layer, unit.relu} : std::vector{unit.layer}, phase);
    }
    /// Opens the unit's stage with its FLOPs: forward with those of its ReLU, backward those of the layer's
    /// backward_data. `executed`: of the implementation, if it says so.
    void begin_with_work(const Unit& unit, Phase phase, Flops executed = {});
    void add_work(const model::PassWork& work) { program.add_work(to_work(work)); }
    void add_flops(Flops flops) { program.add_work({.flops = flops, .compulsory = {}, .no_reuse = {}}); }
    /// A pass of a convolution by this algorithm.
    void add_convolution(const Work& work, const std::string& algorithm)
    {
        program.add_work(work);
        ++algorithms[algorithm];
    }

    Output& output(int index) { return outputs[static_cast<std::size_t>(index)]; }
    Tensor input(const Unit& unit) { return output(source(unit)).tensor; }

    /// Returns the shape of the layer's output for a batch, without memory.
    Tensor map(int index) const;
    /// Returns a new tensor for a gradient of the layer's output.
    Tensor gradient_like(int index);
    Tensor channels_of(int index) const { return {.batch = 1, .channels = graph.layer(index).output.channels}; }

    void put(const Unit& unit, const Tensor& tensor);
    /// Adds a share of the gradient of the layer's output.
    void give(int index, const Share& share) { shares_[static_cast<std::size_t>(index)].push_back(share); }
    /// Whether convolutions write gradients of weights in the precision of the activations.
    bool writes_narrow_gradients() const { return settings.narrow() && !choosers.whole_gradients; }
    /// Returns the sum of the gradient's shares; with `most` 2, up to two shares stay separate.
    std::vector<Share> shares(int layer, std::size_t most);
    Share gradient(int layer) { return shares(layer, 1).front(); }
    /// Returns a share that no other layer reads, or a new tensor, for the sum or the masked gradient.
    Tensor over(const std::vector<Share>& shares);

    /// Marks the gradient of the layer's weight or bias as complete, in fp32, by the open stage. Weights of another layer are completed
    /// by that.
    void completed(int layer, bool is_bias);
    /// Takes the narrow gradient of a layer's weights. The conversion to fp32, which completes it, waits for others.
    void widen_later(const Tensor& narrow, int layer);
    /// Appends one conversion of all that wait, if any, to the open stage.
    void widen_waiting();

    /// Writes a layer without weights: `forward` makes the result from the source, `backward` the gradient of the
    /// source from that of the result.
    void write_simple(const Unit& unit, const std::function<Tensor(const Tensor&)>& forward,
                      const std::function<Tensor(const Share&)>& backward);
    /// A layer whose output is its input: flatten, disabled dropout, pooling to the size of the input. It has no stage.
    void pass_through(const Unit& unit);

  private:
    std::vector<std::vector<Share>> shares_;  ///< by layer
};

/// Appends the product of operands that count as being of this precision, with bias and ReLU in an operation of their
/// own where the library does not add them.
void append_product(Program& program, const Choosers& choosers, Precision precision, Multiply product);

}  // namespace roof::ir
