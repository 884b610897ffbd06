// An estimate on machines for people and for programs: quantities down, machines across, and how each is known.
#pragma once

#include "analysis/estimate/machine_estimate.hpp"

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

namespace roof::analysis {

/// All of one request. A machine that cannot be estimated says why below the table.
std::string to_text(std::span<const MachineEstimate> estimates);

/// {"machine", "title", "known", "reason", "peak_flops_per_second", "levels", "bound", "binds", "compute_share",
/// "seconds": {"layer_by_layer", "at_once", "forward", "backward", "update"}, "images_per_second", "epoch_seconds",
/// "memory": {…}, "largest_batch", "scaling", "layers": [{"layer", "kind", "phase", "flops", "compulsory_bytes", "seconds",
/// "binds"}]}; null for what is not known.
nlohmann::json to_json(const MachineEstimate& estimate);

}  // namespace roof::analysis
