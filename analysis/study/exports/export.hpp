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
///   tracelens, pytorch, inference-sim, prometheus: below
/// Throws InputError for an unknown format or device, and without the ceilings that the format needs.
std::string exported(const Study& study, std::string_view format, const std::string& device);
std::vector<std::string> export_formats();

// The roofs of a device in the forms of programs that divide by a peak (export.cpp). docs/exports.md says what reads
// them and how that was checked.

/// The roofs of the device at the most threads. Throws InputError for an unknown device, and without ceilings.
Roofs roofs_to_export(const Study& study, const std::string& device);

// One text for a device. Each has medians, leaves out what was not measured, and names the lower bounds among its
// roofs.

/// The JSON of a GPU's architecture for TraceLens: 1e9 B/s of memory, GiB, 1e12 FLOP/s as matrix_* (multiply-adds by
/// the fastest instruction) and vector_* (without tensor cores or tiles). Throws InputError without the bandwidth of
/// DRAM.
std::string as_tracelens(const Study& study, const std::string& device);

/// A Python module that enters the device into torch._inductor.analysis.device_info, under the name that PyTorch has
/// for it: 1e12 operations per second, 1e9 B/s, GiB. Run as a program, it is PyTorch's own profile_analysis. Throws
/// InputError without the bandwidth of DRAM.
std::string as_pytorch(const Study& study, const std::string& device);

/// hardware_config.json of inference-sim: 1e12 FLOP/s of bf16 (of fp16 without it) and fp8, 1e12 B/s, GiB. Its shares
/// mfuPrefill and mfuDecode are 1, because the peak is measured. Throws InputError without DRAM, or without bf16 and
/// fp16.
std::string as_inference_sim(const Study& study, const std::string& device);

/// Prometheus' text format 0.0.4: the roofs of every device in SI units, with the ends of their intervals. A lower
/// bound has no upper end.
std::string as_prometheus(const Study& study);

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
