// What the layers need while they write themselves into a program: the network's graph, the tensors so far, and a tape. A layer
// appends its forward pass at once and puts its backward pass on the tape, which is played from its end.
#pragma once

#include "workloads/cudnn/program/choose.hpp"
#include "workloads/cudnn/program/parameters.hpp"
#include "workloads/cudnn/program/program.hpp"
#include "workloads/cudnn/program/settings.hpp"
#include "workloads/engine/unit.hpp"
#include "workloads/model/work.hpp"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace roof::cudnn {

using engine::readers;
using engine::to_work;
using engine::Unit;

/// A batch norm's running statistics, [channels] each.
struct Running {
    std::string layer;
    Tensor mean, variance;
};

/// What a layer puts out. A batch norm that a sum alone reads leaves the normalisation to that sum.
struct Output {
    Tensor tensor;  ///< of a deferred one, the batch norm's source
    ChannelNumbers channels;
    Tensor weight;  ///< of the batch norm
    bool deferred = false;
    bool reduced = false;  ///< backward: the sums over its gradient are made already
};

class Builder {
  public:
    Builder(const model::Graph& graph, const Settings& settings, const Choosers& choosers, Program& program);

    const model::Graph& graph;
    const Settings& settings;
    const Choosers& choosers;
    Program& program;
    Parameters parameters;
    Tensor images, labels_given, labels, row_losses;
    std::vector<Output> outputs;  ///< by layer
    std::vector<Running> running;
    std::map<std::string, int, std::less<>> algorithms;  ///< convolution passes by what computes them
    std::vector<std::function<void()>> tape;

    const model::Layer& layer(const Unit& unit) const { return graph.layer(unit.layer); }
    int source(const Unit& unit) const { return layer(unit).inputs.front(); }
    Output& output(int index) { return outputs[static_cast<std::size_t>(index)]; }
    Tensor input(const Unit& unit) { return output(source(unit)).tensor; }
    bool is_image(int index) const { return index == 0; }
    model::LayerWork work(int index) const;

    /// Of what the layer puts out, for a batch: no memory yet.
    Tensor map(int index) const;
    Tensor channels_of(int index) const { return {.batch = 1, .channels = graph.layer(index).output.channels}; }

    void put(const Unit& unit, const Tensor& tensor);
    /// Opens the unit's stage: "conv1", "bn1+relu".
    void begin(const Unit& unit, Phase phase);
    void add_work(const model::PassWork& work);
    /// FLOPs alone: what is done in passing, on values that another pass moves anyway.
    void add_flops(Flops flops);

    /// One consumer's share of the gradient of the layer's output; never overwritten if `shared`.
    void give(int layer, const Tensor& share, bool shared = false);
    /// The sum of what the consumers gave, at most two shares of it left apart if `most` is 2.
    struct Share {
        Tensor tensor;
        bool shared = false;
    };
    std::vector<Share> shares(int layer, std::size_t most);
    /// Where the sum or the masked gradient of these may be written: over one of them, or beside.
    Tensor over(const std::vector<Share>& shares);

    /// Room for the sums of slabs of this tensor's rows.
    Tensor partial_sums(const Tensor& summed);

    /// The gradient of the layer's weight or bias is now written, in fp32, by the open stage.
    void completed(int layer, bool is_bias);

  private:
    std::vector<std::vector<Share>> shares_;  ///< by layer
};

/// Elementwise: FLOPs per value, and the bytes of these tensors once each.
Work moving(const std::vector<Tensor>& tensors, double flops_each);

}  // namespace roof::cudnn
