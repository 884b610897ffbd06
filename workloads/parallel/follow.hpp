// The main loop of all ranks but the first: they run the commands of rank 0 and print nothing but why they failed.
#pragma once

#include "ert/method/bench/bench_registry.hpp"
#include "workloads/parallel/place.hpp"

namespace roof::parallel {

/// Runs commands until rank 0 sends `leave`; returns the exit status. Ignores interrupts, which rank 0 handles. Ends
/// with rank 0 if that is this process's parent.
int follow(const BenchRegistry& registry, const Place& place);

}  // namespace roof::parallel
