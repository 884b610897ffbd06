// The items of a sweep, the command that measures each alone, and a rough time.
#pragma once

#include "ert/method/plan/plan.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace roof {

/// The command that measures this item alone. `sweep`: the arguments "sweep PLAN" with their settings, without --only.
std::string reproducing_command(const Item& item, const std::vector<std::string>& sweep);

/// The sum of the items' budgets. It is rough: it excludes the creation of subjects, slow launches may exceed their
/// budget, and steady items stop early.
Seconds rough_time(const std::vector<Item>& items);

std::string dry_run_text(const std::vector<Item>& items, const std::vector<std::string>& sweep);
/// {"items":[{"id","command","missing"}],"rough_seconds"}; "missing" is null if the item can be measured.
nlohmann::json dry_run_json(const std::vector<Item>& items, const std::vector<std::string>& sweep);

}  // namespace roof
