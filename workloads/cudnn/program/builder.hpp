// What the layers of the GPU engine need beside what every engine's layers do.
#pragma once

#include "workloads/cudnn/program/choose.hpp"
#include "workloads/cudnn/program/parameters.hpp"
#include "workloads/cudnn/program/program.hpp"
#include "workloads/cudnn/program/settings.hpp"
#include "workloads/engine/builder.hpp"

#include <vector>

namespace roof::cudnn {

using engine::readers;
using engine::to_work;
using engine::Unit;

using Running = engine::Running<Tensor>;

/// What a layer puts out. A batch norm that a sum alone reads leaves the normalisation to that sum.
struct Output {
    Tensor tensor;  ///< of a deferred one, the batch norm's source
    ChannelNumbers channels;
    Tensor weight;  ///< of the batch norm
    bool deferred = false;
    bool reduced = false;  ///< backward: the sums over its gradient are made already
};

class Builder : public engine::Builder<Program, Tensor> {
  public:
    Builder(const model::Graph& graph, const Settings& settings, const Choosers& choosers, Program& program);

    const Settings& settings;
    const Choosers& choosers;
    Parameters parameters;
    Tensor images, labels_given, labels, row_losses;
    std::vector<Output> outputs;  ///< by layer

    Output& output(int index) { return outputs[static_cast<std::size_t>(index)]; }
    Tensor input(const Unit& unit) { return output(source(unit)).tensor; }

    /// Of what the layer puts out, for a batch: no memory yet.
    Tensor map(int index) const;
    Tensor channels_of(int index) const { return {.batch = 1, .channels = graph.layer(index).output.channels}; }

    void put(const Unit& unit, const Tensor& tensor);
    /// The sum of the gradient's shares; with `most` 2, up to two shares are left apart.
    std::vector<Share> shares(int layer, std::size_t most);
    /// Where the sum or the masked gradient of these may be written: over one of them, or beside.
    Tensor over(const std::vector<Share>& shares);

    /// Room for the sums of slabs of this tensor's rows.
    Tensor partial_sums(const Tensor& summed);

    /// The gradient of the layer's weight or bias is now written, in fp32, by the open stage.
    void completed(int layer, bool is_bias);
};

/// Elementwise: FLOPs per value, and the bytes of these tensors once each.
Work moving(const std::vector<Tensor>& tensors, double flops_each);

}  // namespace roof::cudnn
