// How a training step would be computed, without measuring it: its parts, their operations, layouts, reorders and bytes.
#pragma once

#include "ert/method/plan/plan.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace roof {

/// What one item's subject plans to do; `reason` says why there is none.
struct Explanation {
    std::string item;
    std::string reason;
    std::string variant;
    Bytes memory;
    std::vector<TimedPart> parts;
};

/// Makes the item's subject, and lets it go again. Throws InputError alone.
Explanation explain(const Item& item, const BenchRegistry& registry);

std::string explanation_text(const Explanation& explanation);
nlohmann::json explanation_json(const Explanation& explanation);

}  // namespace roof
