// The layers of a network in the order in which they are written, each with the ReLU that is computed with it.
#pragma once

#include "workloads/model/graph.hpp"

#include <vector>

namespace roof::ir {

/// A layer, and the ReLU that is computed with it, if any.
struct Unit {
    int layer = 0;
    int relu = -1;

    bool fused() const { return relu >= 0; }
    int last() const { return fused() ? relu : layer; }
};

/// The layers that read this layer's output.
std::vector<int> readers(const model::Graph& graph, int layer);
/// The ReLU that alone reads this layer's output, if this kind can compute it; -1 if there is none.
int relu_behind(const model::Graph& graph, int layer);

/// The layers that read this layer, if these are slices that together take each of its channels once.
std::vector<int> whole_cut(const model::Graph& graph, int layer);

/// All layers of the network as units, in the order of its layers: a ReLU that goes with a layer has none of its own.
std::vector<Unit> units_of(const model::Graph& graph);

}  // namespace roof::ir
