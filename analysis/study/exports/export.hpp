// Ceilings and points in the forms of other tools. Rates are the medians of the roofs at the most threads.
#pragma once

#include "analysis/roofline/roofs.hpp"
#include "analysis/study/study.hpp"
#include "ert/method/bench/machine.hpp"
#include "ert/method/bench/measurement.hpp"
#include "ert/method/ceilings/ceiling.hpp"

#include <nlohmann/json_fwd.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace roof::analysis {

/// The text of a format for one device:
///   csv     every ceiling with its interval, in SI units
///   points  every placed step, phase and layer, at every memory level, in SI units
///   ert     roofline.json of the Empirical Roofline Tool 1.1.0: gbytes and gflops by name, 1e9 per second
///   likwid  tables in the style of likwid-perfctr, in its units: MByte/s and MFLOP/s, 1e6 per second
///   carm    <machine>_roofline.csv of the CARM tool (champ-hub/carm-roofline): a row for fp64 and one for fp32, from
///   loads
///           alone and multiply-adds. Its sizes are in KiB; it writes 0 for a level that the machine lacks.
///   tracelens, pytorch, inference-sim, prometheus: export.cpp, each with medians and the lower bounds named, without
///           what was not measured; docs/exports.md says what reads them and how that was checked
/// Throws InputError for an unknown format or device, and without the ceilings that the format needs.
std::string exported(const Study& study, std::string_view format, const std::string& device);
std::vector<std::string> export_formats();

// One training step as a trace for Perfetto and chrome://tracing (json.cpp). Results have median times of layers but
// no start times, so layers are placed one after another within their phases. The file states this.

/// {"traceEvents": [names, a slice for the step, one per phase, one per layer], "otherData": {…}}. The process is the
/// device. Times are whole nanoseconds, written in microseconds as the format requires.
nlohmann::json trace_of(const Study& study, const Measurement& row);

// As JSON, for programs (json.cpp).

/// The fields of machine.yaml under the same names.
nlohmann::json machine_json(const Machine& machine);

/// {"machine": {…}, "ceilings": [{"device", "kind", "level", "operation", "precision", "isa", "condition", "threads",
/// "median", "low", "high", "n", "unit", "working_set_bytes", "known", "variant", "clock_hertz", "per_clock_and_core",
/// "spec_per_clock_and_core", "share_of_spec", "steadiness", "rounds", "looks", "looks_over_seconds",
/// "seconds_per_access", "nearer_share", "stands_in", "point"}], "roofs": [the same of each memory level and precision,
/// at the most threads, by Ceilings::roof()], "levels": [{"device", "name", "threads", "from_bytes", "to_bytes",
/// "beyond_bytes", "reported_bytes", "sharing", "contradiction"}], "levels_by_threads": [the same for every thread
/// count], "above_spec": [the name of each ceiling above the spec of the core]}
nlohmann::json ceilings_json(const Ceilings& ceilings, const Machine& machine);

nlohmann::json roofs_json(const Ceilings& ceilings, const Machine& machine);

/// {"taken", "disturbed": {reason: number}}: samples of a run, without warm-ups.
nlohmann::json samples_json(std::span<const Measurement> rows);

/// {"version", "rows": [the columns of verdict_table(), as in verdict.csv and with null for what is unknown or empty;
/// "losses": […]; "answer": null or {"headline", "actions": [{"action", "seconds", "sense", "known"}]}]: the training
/// steps, "calibration": null or {"folder", "date", "quality"}, "damage": […], "points_above_a_roof": number of
/// points above their roof beyond all intervals}.
nlohmann::json study_json(const Study& study);

}  // namespace roof::analysis
