// A bench whose kernel traps: the device fails, as it does where a kernel is wrong.
#pragma once

#include "ert/method/bench/bench_registry.hpp"

namespace roof::emulated {

/// Adds the bench "trap", without axes.
void add_trap(BenchRegistry& registry);

}  // namespace roof::emulated
