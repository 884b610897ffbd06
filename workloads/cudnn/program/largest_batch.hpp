// The largest batch that fits into memory.
#pragma once

#include "workloads/cudnn/program/settings.hpp"
#include "workloads/model/graph.hpp"

#include <cstddef>

namespace roof::cudnn {

/// Returns the largest batch whose memory plan fits into `bytes`, without the libraries' own memory; 0 if no batch
/// fits. Analytic.
int largest_batch(const model::Graph& graph, const Settings& settings, std::size_t bytes);

/// Throws OutOfMemory if the plan of the settings' batch does not fit. The message gives the batch that would.
/// Allocates nothing.
void require_room(const model::Graph& graph, const Settings& settings, std::size_t available);

}  // namespace roof::cudnn
