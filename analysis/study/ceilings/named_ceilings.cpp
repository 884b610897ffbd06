// The ceilings with names in the literature, from the best mix down to scalar code.
#include "analysis/roofline/roofs.hpp"
#include "analysis/study/ceilings/ceiling_tables.hpp"
#include "analysis/table/rows.hpp"

#include <fmt/format.h>

#include <optional>
#include <set>

namespace roof::analysis {
namespace {

struct CeilingKey {
    std::string device;
    std::string precision;
    int threads;

    auto operator<=>(const CeilingKey&) const = default;
};

/// The ceilings of one key; null if there is none.
struct Named {
    CeilingKey key;
    bool names_device;
    const Ceiling* mix;
    std::optional<Ceiling> roof;
    const Ceiling* add;
    const Ceiling* without_fma;
    const Ceiling* scalar;

    bool has_names() const
    {
        return add != nullptr || without_fma != nullptr || scalar != nullptr ||
               (mix && !(roof && roof->rate.median >= mix->rate.median));
    }
};
using N = const Named&;

Cell cell_of(const Ceiling* ceiling)
{
    return ceiling == nullptr ? absent() : number(ceiling->rate.median.value, rate_text(*ceiling));
}

Cell clock_cell(const Ceiling* ceiling)
{
    const double clock = ceiling != nullptr ? ceiling->clock.median.value : 0;
    return only_if(clock > 0, amount(clock, "Hz"));
}

}  // namespace

DataTable named_ceilings(const Ceilings& ceilings)
{
    static const std::vector<ColumnOf<Named>> columns{
        {"device", "", [](N n) { return only_if(n.names_device, word(n.key.device)); }},
        {"precision", "", [](N n) { return word(n.key.precision); }},
        {"threads", "", [](N n) { return count(n.key.threads); }},
        {"best mix", "", [](N n) { return cell_of(n.mix); }},
        {"multiply-add: the roof", "", [](N n) { return cell_of(n.roof ? &*n.roof : nullptr); }},
        {"add only", "", [](N n) { return cell_of(n.add); }},
        {"without FMA", "", [](N n) { return cell_of(n.without_fma); }},
        {"without SIMD", "", [](N n) { return cell_of(n.scalar); }},
        {"clock, scalar", "", [](N n) { return clock_cell(n.scalar); }},
        {"clock, widest", "", [](N n) { return clock_cell(n.roof ? &*n.roof : nullptr); }}};
    std::set<CeilingKey> keys;
    for (const Ceiling& c : ceilings.all)
        if (c.kind == Role::compute && c.condition.empty()) keys.insert({c.device, c.precision, c.threads});
    const bool names_device = devices_of(ceilings).size() > 1;
    std::vector<Named> rows;
    for (const CeilingKey& key : keys) {
        const auto by = [&](std::string_view operation, std::string_view isa = "") {
            return fastest_by(ceilings, key.device, key.threads, key.precision, operation, isa);
        };
        const Named named{key,
                          names_device,
                          ceilings.compute(key.device, key.precision, key.threads),
                          ceilings.roof(Role::compute, key.device, key.precision, key.threads),
                          by("add"),
                          by("mul+add"),
                          by("fma", "scalar")};
        if (named.has_names()) rows.push_back(named);
    }
    DataTable table = table_of(
        columns, rows,
        {.title = fmt::format("Named ceilings ({}): the roof, and what remains below it without one thing or another",
                              name(ceilings.known()))});
    drop_empty_columns(table);
    return table;
}

}  // namespace roof::analysis
