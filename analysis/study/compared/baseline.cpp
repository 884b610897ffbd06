// A study beside an earlier one: which points belong together, and what changed.
#include "analysis/study/compared/compare.hpp"
#include "analysis/table/quantities.hpp"
#include "analysis/table/rows.hpp"
#include "ert/base/ranges.hpp"

#include <fmt/format.h>

#include <map>
#include <utility>

namespace roof::analysis {
namespace {

/// The row's name in both studies: machines of different size run one plan with different numbers of threads.
std::string common_id(const Study& study, const std::string& row)
{
    if (study.results.machine.name == study.baseline->results.machine.name) return row;
    return id_without(row, "threads");
}

struct BaselineRow {
    std::string_view what;
    Change change;
    const Placement* before = nullptr;  ///< null for ceilings
    const Placement* now = nullptr;
};
using R = const BaselineRow&;

/// Of both sides; one text where they are the same.
Cell both(const std::string& before, const std::string& now)
{
    return word(before == now ? now : before + " \u2192 " + now);
}

}  // namespace

const Placement* before(const Study& study, const Placement& now)
{
    if (study.baseline == nullptr) return nullptr;
    const std::string id = common_id(study, now.row);
    for (const Placement& p : study.baseline->placements)
        if (p.scope == now.scope && p.phase == now.phase && p.name == now.name && common_id(study, p.row) == id)
            return &p;
    return nullptr;
}

DataTable baseline_table(const Study& study)
{
    using BetweenTimes = std::map<std::string, double>;
    const auto [of_then, of_now] = study.baseline == nullptr
                                       ? std::pair<BetweenTimes, BetweenTimes>()
                                       : std::pair(between_times(*study.baseline), between_times(study));
    const auto side = [](const Study& of, const BetweenTimes& between, const Placement& p) {
        const Measurement* const row = find_in(of.results.rows, p.row, &Measurement::id);
        Side side = row ? step_side(*row) : Side{};
        static_cast<Spread&>(side) = p.seconds;
        side.n = p.seconds.n;
        if (const auto known = between.find(p.row); known != between.end()) side.between = known->second;
        return side;
    };
    std::vector<BaselineRow> rows;
    for (const Scope scope : {Scope::step, Scope::layer})
        for (const Placement& now : study.placements) {
            const Placement* const then = now.scope == scope ? before(study, now) : nullptr;
            if (then == nullptr || !(then->seconds.median.value > 0) || !(now.seconds.median.value > 0)) continue;
            const std::string phase = now.phase ? " " + now.phase_name() : "";
            Side first = side(*study.baseline, of_then, *then), second = side(study, of_now, now);
            share_between(*study.baseline, first, study, second);
            rows.push_back({name(scope),
                            step_change({now.scope == Scope::step ? now.row : now.name + phase}, "s", first, second),
                            then, &now});
        }
    if (study.baseline != nullptr)
        for (Change& change : moved(compare(*study.baseline, study))) rows.push_back({"ceiling", std::move(change)});
    const auto share = [](const Placement* p) {
        return only_if(p && p->attainable.value > 0, roof::analysis::share(p ? p->fraction() : 0));
    };
    const auto name_of = [&](R r) {
        const auto step = std::ranges::find_if(study.results.rows, [&](const Measurement& row) {
            return r.now && r.now->scope == Scope::step && row.id() == r.now->row;
        });
        const std::string id = r.change.id();
        return word(step == study.results.rows.end() ? id : step_title(*step, study.results.rows), id);
    };
    DataTable table = table_of<BaselineRow>(
        {{"", "row", [](R r) { return word(r.now ? r.now->row : r.change.id()); }},
         {"", "what", [](R r) { return word(r.what); }},
         {"step, layer or ceiling", "name", name_of},
         {"before [95%]", "before_*", [](R r) { return r.change.cell(r.change.a); }},
         {"now [95%]", "now_*", [](R r) { return r.change.cell(r.change.b); }},
         {"now / before", "ratio_*",
          [](R r) {
              const Change& c = r.change;
              Cell cell{c.ratio, ratio_text(c.ratio, 2), true};
              if (c.b.is_at_least()) cell.text = fmt::format("≥ {:.2f}", c.ratio.low);
              return cell;
          }},
         {"", "unit", [](R r) { return word(r.change.unit); }},
         {"verdict", "verdict", [](R r) { return word(verdict_of(r.change)); }},
         {"bound by", "",
          [](R r) { return r.now ? both(bottleneck_text(*r.before), bottleneck_text(*r.now)) : word(""); }},
         {"reached", "", [](R r) { return r.now ? both(share_text(*r.before), share_text(*r.now)) : word(""); }},
         {"", "share_of_attainable_before", [&](R r) { return share(r.before); }},
         {"", "share_of_attainable_now", [&](R r) { return share(r.now); }}},
        rows);
    for (std::size_t i = 0; i < rows.size(); ++i)
        table.rows[i].is_for_programs_only = rows[i].what == name(Scope::layer) && !rows[i].change.shown();
    table.identifying = {"step, layer or ceiling"};
    table.expendable = {"reached", "bound by", "before [95%]"};
    return table;
}

}  // namespace roof::analysis
