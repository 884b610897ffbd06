// The ceilings that have names in the literature, from the best mix down to what scalar code can reach.
#include "analysis/roofline/roofs.hpp"
#include "analysis/study/ceiling_tables.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

namespace roof::analysis {

namespace {

struct Key {
    std::string device;
    std::string precision;
    int threads;

    auto operator<=>(const Key&) const = default;
};

/// The best of the ceilings under `key` that `operation` and, unless empty, `isa` name. Null if there is none.
const Ceiling* best_of(const Ceilings& ceilings, const Key& key, std::string_view operation, std::string_view isa = "")
{
    const Ceiling* best = nullptr;
    for (const Ceiling& c : ceilings.all) {
        const bool under_key = c.kind == Role::compute && c.condition.empty() && c.device == key.device &&
                               c.precision == key.precision && c.threads == key.threads;
        if (!under_key || c.operation != operation || (!isa.empty() && c.isa != isa)) continue;
        if (best == nullptr || best->rate.median < c.rate.median) best = &c;
    }
    return best;
}

std::vector<Key> keys_of(const Ceilings& ceilings)
{
    std::set<Key> keys;
    for (const Ceiling& c : ceilings.all)
        if (c.kind == Role::compute && c.condition.empty()) keys.insert({c.device, c.precision, c.threads});
    return {keys.begin(), keys.end()};
}

std::string rate_text(const Ceiling* ceiling)
{
    return ceiling != nullptr ? format_si(ceiling->rate.median.value, ceiling->unit()) : "-";
}

std::string clock_text(const Ceiling* ceiling)
{
    const bool known = ceiling != nullptr && ceiling->clock.median.value > 0;
    return known ? format_si(ceiling->clock.median.value, "Hz") : "-";
}

void drop_empty_columns(TextTable& table)
{
    for (std::size_t i = table.columns.size(); i-- > 0;) {
        if (std::ranges::any_of(table.rows, [i](const auto& row) { return row[i] != "-"; })) continue;
        table.columns.erase(table.columns.begin() + static_cast<std::ptrdiff_t>(i));
        for (auto& row : table.rows) row.erase(row.begin() + static_cast<std::ptrdiff_t>(i));
    }
}

}  // namespace

TextTable named_ceilings(const Ceilings& ceilings)
{
    TextTable table{"Named ceilings (measured): the roof, and what remains below it without one thing or another",
                    {{"device", false},
                     {"precision", false},
                     {"threads", true},
                     {"best mix: the roof", true},
                     {"FMA only", true},
                     {"add only", true},
                     {"without FMA", true},
                     {"without SIMD", true},
                     {"clock, scalar", true},
                     {"clock, widest", true}},
                    {}};
    const bool one_device = devices_of(ceilings).size() < 2;
    for (const Key& key : keys_of(ceilings)) {
        const Ceiling* const fma = best_of(ceilings, key, "fma");
        const Ceiling* const scalar = best_of(ceilings, key, "fma", "scalar");
        const Ceiling* const add = best_of(ceilings, key, "add");
        const Ceiling* const without_fma = best_of(ceilings, key, "mul+add");
        const Ceiling* const roof = ceilings.compute(key.device, key.precision, key.threads);
        const bool has_names = add != nullptr || without_fma != nullptr || scalar != nullptr || roof != fma;
        if (!has_names) continue;
        table.rows.push_back({one_device ? "-" : printable(key.device), printable(key.precision),
                              std::to_string(key.threads), rate_text(roof), rate_text(fma), rate_text(add),
                              rate_text(without_fma), rate_text(scalar), clock_text(scalar),
                              clock_text(fma != nullptr ? fma : roof)});
    }
    drop_empty_columns(table);
    return table;
}

}  // namespace roof::analysis
