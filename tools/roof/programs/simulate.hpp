// `roof run MODEL --simulate`: counts the cache misses of each part of a training step with callgrind.
#pragma once

#include "ert/method/plan/plan.hpp"
#include "tools/roof/console/context.hpp"
#include "tools/roof/session/train_plan.hpp"

#include <vector>

namespace roof {

/// Restarts this program under valgrind with one thread and prints the simulated misses beside the analytic interval.
/// Under valgrind, runs the launches and prints the parts. Throws InputError for several items or without valgrind.
int simulate(const std::vector<Item>& items, const TrainOptions& options, bool json, Context& context);

}  // namespace roof
