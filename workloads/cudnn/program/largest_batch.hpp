// The largest batch that fits into memory.
#pragma once

#include "workloads/cudnn/program/settings.hpp"
#include "workloads/model/graph.hpp"

#include <cstddef>

namespace roof::cudnn {

/// Returns the largest batch whose planned memory fits into `bytes`; 0 if none does. Libraries' own memory is not
/// counted.
int largest_batch(const model::Graph& graph, const Settings& settings, std::size_t bytes);

/// Throws OutOfMemory, with the batch that would fit, if the plan of the settings' batch does not.
void require_room(const model::Graph& graph, const Settings& settings, std::size_t available);

}  // namespace roof::cudnn
