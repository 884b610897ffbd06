// The life of every rank but the first: it does what rank 0 tells it, and says nothing but why it failed.
#pragma once

#include "ert/method/bench/bench_registry.hpp"
#include "workloads/parallel/place.hpp"

namespace roof::parallel {

/// Makes, launches and lets go of subjects until rank 0 lets it leave; returns the exit status. A person's interrupt is rank 0's
/// to answer. Ends with rank 0 if that is this process's parent.
int follow(const BenchRegistry& registry, const Place& place);

}  // namespace roof::parallel
