// What the counter table says of a family of chips: the quantities that its metrics give.
#pragma once

#include "ert/counters/counter_table.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace roof {

/// The first family with that compute capability times ten; null if there is none.
inline const ChipFamily* family_of(const CounterTable& table, int capability)
{
    for (const ChipFamily& family : table.families)
        if (std::ranges::find(family.capabilities, capability) != family.capabilities.end()) return &family;
    return nullptr;
}

/// The quantities of that family computed from `values`, raw metrics by name. Quantities with a missing metric are left
/// out, since their sum would be incomplete.
inline std::map<std::string, double> quantities_of(const CounterTable& table, const ChipFamily& family,
                                                   const std::map<std::string, double>& values)
{
    std::map<std::string, double> quantities;
    std::set<std::string> incomplete;
    for (const CounterMetric& metric : table.metrics_of(family, "all")) {
        const auto value = values.find(metric.metric);
        if (value == values.end())
            incomplete.insert(metric.quantity);
        else
            quantities[metric.quantity] += metric.factor * value->second;
    }
    for (const std::string& quantity : incomplete) quantities.erase(quantity);
    return quantities;
}

}  // namespace roof
