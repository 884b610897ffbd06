// What to answer when a batch does not fit.
#pragma once

#include "workloads/cudnn/program/settings.hpp"
#include "workloads/model/graph.hpp"

#include <cstddef>

namespace roof::cudnn {

/// The most images a batch may have for the plan of memory, without what libraries take for themselves, to fit into so many bytes;
/// 0 if not even one does. Analytic.
int largest_batch(const model::Graph& graph, const Settings& settings, std::size_t bytes);

/// Throws OutOfMemory, before any memory is taken, if the plan of the settings' batch does not fit; its message says which would.
void require_room(const model::Graph& graph, const Settings& settings, std::size_t available);

}  // namespace roof::cudnn
