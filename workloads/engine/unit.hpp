// What the engines compute in one go: a layer, and the ReLU behind it where that goes with it.
#pragma once

#include "ert/method/bench/work.hpp"
#include "workloads/model/graph.hpp"
#include "workloads/model/work.hpp"

#include <vector>

namespace roof::engine {

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

/// All layers of the network as units, in the order of its layers: a ReLU that goes with a layer has none of its own.
std::vector<Unit> units_of(const model::Graph& graph);

Work to_work(const model::PassWork& work);

}  // namespace roof::engine
