// How long a plan will take: from rows of the same items that were measured before, else from the ceilings.
#pragma once

#include "ert/method/plan/plan.hpp"
#include "tools/roof/console/context.hpp"

#include <cstddef>
#include <vector>

namespace roof {

struct PlanTime {
    Seconds total;
    std::size_t remembered = 0;  ///< items whose launches were measured here before
    std::size_t predicted = 0;   ///< training steps predicted from the ceilings
    std::size_t budgeted = 0;    ///< the others: their time budgets
};

/// Launches are as many as the plan's budget allows; of an item that was narrow enough before, as many as then. Making a subject takes
/// what it took before, else what it took in the published runs (results/examples). Not included: timing the candidates of
/// convolutions for the first time, and items with keywords. Items that this machine lacks take no time.
PlanTime plan_time(const std::vector<Item>& items, const Context& context);

}  // namespace roof
