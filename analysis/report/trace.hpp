// One training step as a trace for Perfetto and chrome://tracing. What is stored of a step are medians, not moments, so the
// layers are laid end to end within their phases, and the file says so; no two slices of a track overlap.
#pragma once

#include "analysis/study/study.hpp"

#include <nlohmann/json.hpp>

namespace roof::analysis {

/// {"traceEvents": [process and track names, a slice for the step, one per phase, one per layer], "otherData": {…}}. A process
/// is the device; tracks are step, phases and layers. Times are whole nanoseconds, written in microseconds as the format has them.
nlohmann::json trace_of(const Study& study, const Measurement& row);

}  // namespace roof::analysis
