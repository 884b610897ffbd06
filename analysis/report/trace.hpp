// One training step as a trace for Perfetto and chrome://tracing. Results have median times
// of layers but no start times, so layers follow one another within their phases, and the file says so.
#pragma once

#include "analysis/study/study.hpp"

#include <nlohmann/json_fwd.hpp>

namespace roof::analysis {

/// {"traceEvents": [process and track names, a slice for the step, one per phase, one per layer], "otherData": {…}}.
/// A process is the device; tracks are step, phases and layers. Times are whole nanoseconds, written in microseconds
/// as the format has them.
nlohmann::json trace_of(const Study& study, const Measurement& row);

}  // namespace roof::analysis
