// The items of a sweep, the command that measures each alone, and how long the sweep will take.
#pragma once

#include "tools/roof/reading/plan_time.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace roof {

/// The command that measures this item alone. `sweep`: the arguments "sweep PLAN" with their settings, without --only.
std::string reproducing_command(const Item& item, const std::vector<std::string>& sweep);

std::string dry_run_text(const std::vector<Item>& items, const std::vector<std::string>& sweep, const PlanTime& time);
/// {"items":[{"id","command","missing"}],"estimated_seconds","remembered","predicted","budgeted"}; "missing" is null if the item can be
/// measured.
nlohmann::json dry_run_json(const std::vector<Item>& items, const std::vector<std::string>& sweep,
                            const PlanTime& time);

}  // namespace roof
