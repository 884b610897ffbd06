// The plan of a training step: its parts, their operations, layouts, reorders and bytes. Nothing is measured.
#pragma once

#include "ert/method/plan/plan.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace roof {

/// The plan of one item's subject; `reason` is set if there is none.
struct Explanation {
    std::string item;
    std::string reason;
    std::string variant;
    Bytes memory;
    std::vector<TimedPart> parts;
};

/// Creates the subject of the item and destroys it again. Throws only InputError.
Explanation explain(const Item& item, const BenchRegistry& registry);

std::string explanation_text(const Explanation& explanation);
nlohmann::json explanation_json(const Explanation& explanation);

}  // namespace roof
