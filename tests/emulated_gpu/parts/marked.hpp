// Marks all that an emulated part adds, so that no row of it can be taken for a measurement.
#pragma once

#include "ert/method/bench/bench_registry.hpp"

namespace roof::emulated {

/// Calls the real part's function on a registry of its own and hands its benches on. Each row of theirs is described as
/// emulated, has a remark that says so, and its work is known by simulation. The machine lists the emulated GPUs as an
/// inconsistency.
void add_marked(BenchRegistry& registry, void (*add_part)(BenchRegistry&));

}  // namespace roof::emulated
