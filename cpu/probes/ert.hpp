// Probe "ert": the rate of work with a given arithmetic intensity over a given working set, as in the Empirical
// Roofline Toolkit.
//
// Launched: on every thread, a generated loop over its own array, repeatedly; each vector is loaded once, and the
//   intensity sets the number of multiply-adds on it. Trials choose the width and length of the loop.
// Saturates: at low intensity the path to the level that holds the working set, at high intensity the multiply-add
//   pipes. The ridge point should lie where the two ceilings cross.
// Counts: 2 FLOPs per multiply-add in every lane, and the bytes loaded. Both are exact, and so is the intensity.
// Falsified by: sums that differ from the host's by one bit (the values are such that no order of additions rounds); a
//   loop whose decoded loads and multiply-adds are not those counted; a point above a ceiling.
#pragma once

#include "cpu/probes/probe_context.hpp"
#include "ert/method/bench/bench.hpp"

#include <memory>
#include <string_view>

namespace roof::cpu {

std::unique_ptr<Bench> ert_bench(const ProbeContext& context);

/// FLOPs per byte, from "1/32" to "16". Throws InputError with the legal values.
double parse_intensity(std::string_view name);

}  // namespace roof::cpu
