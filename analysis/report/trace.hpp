// One training step as a trace for Perfetto and chrome://tracing. Results have median times of layers but no start
// times, so layers are placed one after another within their phases. The file states this.
#pragma once

#include "analysis/study/study.hpp"

#include <nlohmann/json_fwd.hpp>

namespace roof::analysis {

/// {"traceEvents": [process and track names, a slice for the step, one per phase, one per layer], "otherData": {…}}.
/// The process is the device; its tracks are step, phases and layers. Times are whole nanoseconds, written in
/// microseconds as the format requires.
nlohmann::json trace_of(const Study& study, const Measurement& row);

}  // namespace roof::analysis
