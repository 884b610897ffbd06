// What a layer does per launch: FLOPs and compulsory bytes of its forward, backward-data and backward-weights passes.
// Convolution and linear layers count 2 FLOPs per multiply-add over the full kernel window; all the rest is
// elementwise. Adding a bias is not counted, as in MLPerf's model FLOPs. docs/method.md derives each formula.
#pragma once

#include "ert/base/precision.hpp"
#include "ert/base/units.hpp"
#include "workloads/model/graph.hpp"
#include "workloads/model/pass.hpp"

namespace roof::model {

/// FLOPs and bytes of one pass of a layer over a batch.
struct PassWork {
    Flops flops;
    Bytes compulsory;  ///< each operand moved once; of an input, the places that some window reads
    Bytes no_reuse;    ///< each multiply-add fetches both its operands again; equals compulsory for elementwise work
};

struct LayerWork {
    PassWork forward;
    PassWork backward_data;     ///< zero for a layer whose input needs no gradient; a batch norm's whole backward pass
    PassWork backward_weights;  ///< of convolution and linear layers
    /// SGD with momentum and weight decay: 6 FLOPs and 5 moves (20 bytes in fp32) per parameter. In formats of less
    /// than 4 bytes, parameter, momentum and gradient are fp32, and one more move writes the small copy (22 bytes in
    /// bf16).
    PassWork update;
    long long multiply_adds = 0;           ///< forward, full window, whole batch; of each backward pass as many
    long long multiply_adds_unpadded = 0;  ///< without the taps that fall on padding

    const PassWork& of(Pass pass) const
    {
        return pass == Pass::forward ? forward : pass == Pass::backward_data ? backward_data : backward_weights;
    }
};

/// Convolution and linear layers: the ones whose FLOPs are multiply-adds of a contraction.
bool is_contraction(LayerKind kind);

/// Of the layer with this index, over a batch of `batch` images.
LayerWork work_of(const Graph& graph, int layer, int batch, Precision precision);

/// A convolution over a batch; `source` and `result` are of one image.
struct Convolution {
    int batch = 1;
    Shape source, result;
    Window window;
};
Convolution convolution_of(const Graph& graph, int layer, int batch);

/// Multiply-adds of one pass without the taps that fall on padding.
long long unpadded_multiply_adds(const Convolution& convolution);

/// How many of its m + 2 points per axis a tile computes where the map's lower or right edge leaves n outputs: all,
/// or n + 2.
enum class CutTiles { as_whole, by_need };

/// Multiply-adds of Winograd's F(m x m, 3 x 3), m = `tile`, in any pass of a 3x3 convolution with stride 1: (m + 2)^2
/// for each whole tile of m x m outputs and each pair of channels. The transforms are not counted.
long long winograd_multiply_adds(const Convolution& convolution, int tile, CutTiles cut = CutTiles::as_whole);

/// Totals of a whole step.
struct StepWork {
    Flops forward, backward_data, backward_weights;  ///< convolution and linear layers
    Flops elementwise;                               ///< all the rest, forward and backward; SGD not included
    Flops update;
    Flops step() const { return forward + backward_data + backward_weights; }
};
StepWork work_of(const Graph& graph, int batch, Precision precision);

}  // namespace roof::model
