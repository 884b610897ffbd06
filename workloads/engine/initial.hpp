// The values training starts from.
#pragma once

#include "workloads/engine/recipe.hpp"
#include "workloads/model/graph.hpp"

#include <cstddef>
#include <span>

namespace roof::engine {

/// Fills `values` with those of the k-th of graph.parameters() in PyTorch's order, from value `first` on. Random:
/// He-normal (fan-out) convolutions without bias, linear layers uniform within 1/sqrt(fan-in), norms 1 and 0,
/// embeddings and positions normal with GPT-2's deviation; the same values in every run. Hashed: as model/hashed.hpp.
void fill_initial(const model::Graph& graph, int k, Parameters kind, std::span<float> values, std::size_t first = 0);

}  // namespace roof::engine
