// Estimates on machines as a table (a row for each quantity, a column for each machine) and as JSON.
#pragma once

#include "analysis/estimate/machine_estimate.hpp"

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

namespace roof::analysis {

/// All estimates must have the same request. The reason why a machine has no estimate is below the table.
std::string to_text(std::span<const MachineEstimate> estimates);

/// {"machine", "title", "known", "reason", "peak_flops_per_second", "levels", "bound", "binds", "compute_share",
/// "seconds": {"layer_by_layer", "at_once", "forward", "backward", "update"}, "images_per_second", "epoch_seconds",
/// "memory": {…}, "largest_batch", "scaling", "layers": [{"layer", "kind", "phase", "flops", "compulsory_bytes",
/// "seconds", "binds"}]}; null if unknown.
nlohmann::json to_json(const MachineEstimate& estimate);

}  // namespace roof::analysis
