// Rows of the fake registry, measured by a plan on a manual clock.
#pragma once

#include "ert/method/plan/measure.hpp"
#include "tests/fakes/fake_registry.hpp"

#include <string>
#include <vector>

namespace roof::tests {

inline const std::string plan_text = "run:\n  - {bench: train, model: tinynet, batch: [4, 8, 13]}\n";

inline std::vector<Measurement> measured(const std::string& text = plan_text)
{
    const fakes::ManualClock time;
    const BenchRegistry registry = fakes::fake_registry(time);
    std::vector<Measurement> rows;
    for (const Item& item : expand(parse_plan(text, "p"), registry))
        rows.push_back(measure(item, registry, time.clock()));
    return rows;
}

/// What a scheduler needs to know of them.
inline std::vector<Item> items_of(const std::vector<Measurement>& rows)
{
    std::vector<Item> items(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        items[i].bench_name = rows[i].bench;
        items[i].device = rows[i].device;
        items[i].point = rows[i].point;
    }
    return items;
}

}  // namespace roof::tests
