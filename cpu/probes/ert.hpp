// Probe "ert": the curve under the roofs, as the Empirical Roofline Toolkit measures it: the rate of work of a given
// arithmetic intensity over a given working set.
//
// Launched: on every thread, a generated loop over its own array, again and again; each vector is loaded once, and as many
//   multiply-adds are done with the vectors as the intensity asks for. Width and length of the loop are found by trying.
// Saturates: the path to the level that holds the working set where the intensity is low, the multiply-add pipes where it is
//   high; the knee in between is to fall where the two roofs cross.
// Counts: 2 FLOPs for each multiply-add in every lane, and the bytes loaded. Both exact, so intensity is too.
// Falsified by: sums that differ from the host's by one bit (the numbers are such that no order of adding rounds); a loop
//   whose decoded loads and multiply-adds are not those counted; a point above a roof.
#pragma once

#include "cpu/probes/probe_context.hpp"
#include "ert/method/bench/bench.hpp"

#include <memory>
#include <string_view>

namespace roof::cpu {

std::unique_ptr<Bench> ert_bench(const ProbeContext& context);

/// FLOPs per byte, of "1/32" … "16". Throws InputError naming the legal values.
double parse_intensity(std::string_view name);

}  // namespace roof::cpu
