// Results for other programs: SI numbers, null for what was not measured or is not finite.
#pragma once

#include "ert/method/ceiling.hpp"
#include "ert/method/machine.hpp"
#include "ert/method/measurement.hpp"

#include <nlohmann/json.hpp>

#include <span>

namespace roof::analysis {

/// null for infinities and NaN, which JSON cannot hold.
nlohmann::json json_number(double value);
/// `value` with every byte sequence that is no UTF-8 replaced: names come from files.
std::string json_text(const std::string& value);

/// {"name", "cpu_model", …, "devices": [{"name", "kind", "model", "levels": […], …}], "capabilities", "doubts", …}
nlohmann::json machine_json(const Machine& machine);

/// {"machine": {…}, "ceilings": [{"device", "kind", "level", "operation", "precision", "isa", "threads", "median", "low",
/// "high", "n", "unit"}], "levels": [{"name", "from_bytes", "to_bytes", "reported_bytes", "contradiction"}]}
nlohmann::json ceilings_json(const Ceilings& ceilings, const Machine& machine);

/// {"rows": [{"model", "batch", "precision", "device", "data", "status", "reason", "step_seconds": {"median", "low",
/// "high", "n"}, "phase_seconds": {"forward", "backward", "update"}, "data_seconds", "images_per_second",
/// "images_per_second_median_step", "losses", "flops_per_second", "peak_memory_bytes"}]}: the training steps.
nlohmann::json rows_json(std::span<const Measurement> rows);

}  // namespace roof::analysis
