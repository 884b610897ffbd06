// The roofs of a device in the forms of programs that divide by a peak. docs/exports.md says what reads them and how that was checked.
#pragma once

#include "analysis/roofline/roofs.hpp"
#include "analysis/study/study.hpp"

#include <string>

namespace roof::analysis {

/// The roofs of the device at the most threads. Throws InputError for an unknown device, and without ceilings.
Roofs roofs_to_export(const Study& study, const std::string& device);

// One text for a device. Each has medians, leaves out what was not measured, and names the lower bounds among its roofs.

/// The JSON of a GPU's architecture for TraceLens: 1e9 B/s of memory, GiB, 1e12 FLOP/s as matrix_* (multiply-adds by the fastest instruction)
/// and vector_* (without tensor cores or tiles). Throws InputError without the bandwidth of DRAM.
std::string as_tracelens(const Study& study, const std::string& device);

/// A Python module that enters the device into torch._inductor.analysis.device_info, under the name that PyTorch has for it: 1e12
/// operations per second, 1e9 B/s, GiB. Run as a program, it is PyTorch's own profile_analysis. Throws InputError without the bandwidth of DRAM.
std::string as_pytorch(const Study& study, const std::string& device);

/// hardware_config.json of inference-sim: 1e12 FLOP/s of bf16 (of fp16 without it) and fp8, 1e12 B/s, GiB. Its shares mfuPrefill and
/// mfuDecode are 1, because the peak is measured. Throws InputError without DRAM, or without bf16 and fp16.
std::string as_inference_sim(const Study& study, const std::string& device);

/// Prometheus' text format 0.0.4: the roofs of every device in SI units, with the ends of their intervals. A lower bound has no upper end.
std::string as_prometheus(const Study& study);

}  // namespace roof::analysis
