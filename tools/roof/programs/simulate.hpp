// `roof run MODEL --simulate`: one step under callgrind, part by part.
#pragma once

#include "ert/method/plan/plan.hpp"
#include "tools/roof/console/context.hpp"
#include "tools/roof/session/train_plan.hpp"

#include <vector>

namespace roof {

/// Starts this program again under valgrind with one thread, and prints what its caches missed beside the analytic interval; started so,
/// it does the launches and prints its parts. Throws InputError where it cannot be: more than one item, no valgrind.
int simulate(const std::vector<Item>& items, const TrainOptions& options, bool json, Context& context);

}  // namespace roof
