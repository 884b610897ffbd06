// What a sweep would measure: its items, the command that measures each alone, and a rough estimate of the time.
#pragma once

#include "ert/method/plan/plan.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace roof {

/// The command that measures this item alone. `sweep`: the words "sweep PLAN" with their settings, without --only.
std::string reproducing_command(const Item& item, const std::vector<std::string>& sweep);

/// The sum of the items' budgets. Rough: the making of a subject comes on top, and so does a launch that is slow enough
/// for its least number of samples to outlast the budget; a steady item stops early.
Seconds rough_time(const std::vector<Item>& items);

std::string dry_run_text(const std::vector<Item>& items, const std::vector<std::string>& sweep);
/// {"items":[{"id","command","missing"}],"rough_seconds"}; "missing" is null where the item can be measured.
nlohmann::json dry_run_json(const std::vector<Item>& items, const std::vector<std::string>& sweep);

}  // namespace roof
