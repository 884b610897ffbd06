// What a layer does per launch: FLOPs and compulsory bytes of its forward, backward-data and backward-weights passes.
// Convolution and linear layers count 2 FLOPs per multiply-add over the full kernel window; all the rest is elementwise.
// docs/method.md derives each formula.
#pragma once

#include "ert/base/precision.hpp"
#include "ert/base/units.hpp"
#include "workloads/model/graph.hpp"

namespace roof::model {

/// FLOPs and bytes of one pass of a layer over a batch.
struct PassWork {
    Flops flops;
    Bytes compulsory;  ///< each operand moved once
    Bytes no_reuse;    ///< each multiply-add fetches both its operands again; equals compulsory for elementwise work
};

struct LayerWork {
    PassWork forward;
    PassWork backward_data;     ///< zero for a layer whose input needs no gradient
    PassWork backward_weights;  ///< zero for a layer without parameters
    PassWork update;            ///< SGD with momentum and weight decay: 6 FLOPs, 5 moves (20 bytes in fp32) per parameter
    long long multiply_adds = 0;           ///< forward, full window, whole batch
    long long multiply_adds_unpadded = 0;  ///< without the taps that fall on padding
};

LayerWork work_of(const Graph& graph, int layer, int batch, Precision precision);

/// Totals of a whole step.
struct StepWork {
    Flops forward, backward_data, backward_weights;  ///< convolution and linear layers
    Flops elementwise;                               ///< all the rest, forward and backward; SGD not included
    Flops update;
    Flops step() const { return forward + backward_data + backward_weights; }
};
StepWork work_of(const Graph& graph, int batch, Precision precision);

}  // namespace roof::model
