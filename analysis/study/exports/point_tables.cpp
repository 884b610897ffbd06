// The data of the charts for programs: placements, ceilings, and the sweeps behind them.
#include "analysis/study/ceilings/ceiling_tables.hpp"
#include "analysis/study/steps/verdict.hpp"
#include "analysis/study/tables.hpp"
#include "analysis/table/html.hpp"
#include "analysis/table/quantities.hpp"
#include "analysis/table/rows.hpp"
#include "ert/method/ceilings/point_summary.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace roof::analysis {
namespace {

/// A placement at one of its levels; null without ceilings.
struct AtLevel {
    const Placement& p;
    const LevelPlacement* level;

    /// The bytes that move at the level; null if not known.
    const LevelBytes* moved() const
    {
        const auto at = static_cast<std::size_t>(level - p.levels.data());
        return level != nullptr && at < p.moved.size() && p.moved[at].high.value > 0 ? &p.moved[at] : nullptr;
    }

    Cell if_placed(double value) const { return only_if(!p.binds.empty(), number(value)); }
};
using A = const AtLevel&;
using P = const Placement&;
using C = const Ceiling&;
using Summary = const PointSummary&;

Cell axis(Summary s, const char* name)
{
    return s.best.point.has(name) ? word(s.best.point.text(name)) : absent();
}

bool is_of_sweep(Summary s)
{
    const Point& point = s.best.point;
    return s.best.role == Role::bandwidth && s.rounds > 0 && point.has("working_set") &&
           point.number("working_set") > 0;
}

struct CurvePoint {
    CurveKey key;
    double bytes;
    Dot dot;
    std::string level;  ///< empty without ceilings
    double allowed;     ///< 0 without ceilings
    std::string_view how;
};
using D = const CurvePoint&;

}  // namespace

DataTable placements_table(const Study& study)
{
    static const std::vector<ColumnOf<AtLevel>> columns{
        {"", "row", [](A a) { return word(a.p.row); }},
        {"", "model", [](A a) { return word(a.p.model); }},
        {"", "batch_images", [](A a) { return count(a.p.batch); }},
        {"", "device", [](A a) { return word(a.p.device); }},
        {"", "precision", [](A a) { return word(a.p.precision); }},
        {"", "threads", [](A a) { return count(a.p.threads); }},
        {"", "scope", [](A a) { return word(name(a.p.scope)); }},
        {"", "name", [](A a) { return word(a.p.name); }},
        {"", "kind", [](A a) { return word(a.p.kind); }},
        {"", "phase", [](A a) { return phase_cell(a.p); }},
        {"", "implementation", [](A a) { return word(a.p.implementation); }},
        {"", "time_*_s", [](A a) { return range(a.p.seconds, "s"); }},
        {"", "samples", [](A a) { return count(a.p.seconds.n); }},
        {"", "flops", [](A a) { return number(a.p.flops.value); }},
        {"", "work_known", [](A a) { return word(roof::name(a.p.known)); }},
        {"", "rate_*_flop_per_s", [](A a) { return range(a.p.rate, "FLOP/s"); }},
        {"", "level", [](A a) { return a.level ? word(a.level->level) : absent(); }},
        {"", "level_low_bytes", [](A a) { return a.level ? number(a.level->low.value) : absent(); }},
        {"", "level_high_bytes", [](A a) { return a.level ? number(a.level->high.value) : absent(); }},
        {"", "moved_low_bytes", [](A a) { return a.moved() ? number(a.moved()->low.value) : absent(); }},
        {"", "moved_high_bytes", [](A a) { return a.moved() ? number(a.moved()->high.value) : absent(); }},
        {"", "moved_known", [](A a) { return a.moved() ? word(roof::name(a.moved()->known)) : absent(); }},
        {"", "level_intensity_low_flop_per_byte",
         [](A a) { return a.level ? number(a.level->intensity_low.value) : absent(); }},
        {"", "level_intensity_high_flop_per_byte",
         [](A a) { return a.level ? number(a.level->intensity_high.value) : absent(); }},
        {"", "level_roof_byte_per_s", [](A a) { return a.level ? number(a.level->roof.value) : absent(); }},
        {"", "compute_roof_flop_per_s",
         [](A a) { return only_if(a.p.compute_roof.value > 0, number(a.p.compute_roof.value)); }},
        {"", "binds", [](A a) { return word(a.p.binds); }},
        {"", "nearer_level_may_bind", [](A a) { return truth(a.p.nearer_may_bind); }},
        {"", "attainable_s", [](A a) { return a.if_placed(a.p.attainable.value); }},
        {"", "share_of_attainable", [](A a) { return a.if_placed(a.p.fraction()); }},
        {"", "share_is_upper_bound", [](A a) { return truth(a.p.is_at_most()); }},
        {"", "headroom_s", [](A a) { return a.if_placed(a.p.headroom().value); }},
        {"", "note", [](A a) { return word(a.p.note); }},
    };
    std::vector<AtLevel> rows;
    for (const Placement& p : study.placements) {
        for (const LevelPlacement& level : p.levels) rows.push_back({p, &level});
        if (p.link) rows.push_back({p, &*p.link});  // not one of p.levels, so without moved()
        if (p.levels.empty()) rows.push_back({p, nullptr});
    }
    return table_of(columns, rows);
}

DataTable time_table(const Study& study)
{
    static const std::vector<ColumnOf<Placement>> columns{
        {"", "row", [](P p) { return word(p.row); }},
        {"", "layer", [](P p) { return word(p.name); }},
        {"", "kind", [](P p) { return word(p.kind); }},
        {"", "phase", phase_cell},
        {"", "time_*_s", [](P p) { return range(p.seconds, "s"); }},
        {"", "memory_allows_s", [](P p) { return only_if(!p.levels.empty(), number(needs_of(p).memory.value)); }},
        {"", "compute_allows_s",
         [](P p) { return only_if(p.compute_roof.value > 0, number(needs_of(p).compute.value)); }},
        {"", "known", [](P p) { return word(roof::name(p.known)); }},
    };
    std::vector<Placement> layers;
    for (const Placement& p : study.placements)
        if (p.scope == Scope::layer && !p.binds.empty()) layers.push_back(p);
    return table_of(columns, layers);
}

std::vector<LevelTraffic> traffic_of(const Study& study, const Measurement& row)
{
    std::vector<LevelTraffic> levels;
    const Placement* const step = step_placement(study.placements, row);
    if (step == nullptr) return levels;
    for (std::size_t i = 0; i < step->moved.size(); ++i) {
        const LevelPlacement& level = step->levels[i];
        levels.push_back({level.level, i == 0 ? "cores" : step->levels[i - 1].level, step->moved[i],
                          level.roof * (1 + level.again / level.low), step->seconds.median});
    }
    return levels;
}

/// "15%", "15% to 72%", "at least 15%" where the most is above the roof.
std::string traffic_share(const LevelTraffic& traffic)
{
    if (traffic.least() > 1) return "> 100%";
    const std::string least = percent(traffic.least()), most = percent(traffic.most());
    return traffic.most() > 1 ? "at least " + least : least == most ? least : least + " to " + most;
}

/// A bar as long as what the roof moves in the time of the step: dark what was moved at least, light what at most.
Cell traffic_bar(const LevelTraffic& traffic)
{
    const auto width = [](double share) { return 100 * std::clamp(share, 0.0, 1.0); };
    const std::string title =
        fmt::format("{} to {}: {}, {}; {} of what its roof allows in this time", traffic.level, traffic.nearer,
                    bytes_text(traffic.bytes), roof::name(traffic.bytes.known), traffic_share(traffic));
    return {.html = fmt::format("<span class=\"bar\" role=\"img\" title=\"{0}\" aria-label=\"{0}\">"
                                "<i class=\"at-least\" style=\"width:{1:.1f}%\"></i>"
                                "<i class=\"may-be\" style=\"width:{2:.1f}%\"></i></span>",
                                escape(title), width(traffic.least()), width(traffic.most()) - width(traffic.least()))};
}

DataTable traffic_table(const Study& study)
{
    struct Line {
        const Measurement& row;
        LevelTraffic traffic;
    };
    using L = const Line&;
    static const std::vector<ColumnOf<Line>> columns{
        {"", "row", [](L l) { return word(l.row.id()); }},
        {"model", "model", [](L l) { return word(model_of(l.row)); }},
        {"batch", "batch_images", [](L l) { return count(batch_of(l.row)); }},
        {"precision", "precision", [](L l) { return word(precision_of(l.row)); }},
        {"from", "level", [](L l) { return word(l.traffic.level); }},
        {"to", "nearer", [](L l) { return word(l.traffic.nearer); }},
        {"least", "moved_low_bytes", [](L l) { return amount(l.traffic.bytes.low.value, "B"); }},
        {"most", "moved_high_bytes", [](L l) { return amount(l.traffic.bytes.high.value, "B"); }},
        {"known", "moved_known", [](L l) { return word(roof::name(l.traffic.bytes.known)); }},
        {"roof", "roof_byte_per_s", [](L l) { return amount(l.traffic.roof.value, "B/s"); }},
        {"of the roof", "least_of_roof", [](L l) { return number(l.traffic.least(), traffic_share(l.traffic)); }},
        {"", "most_of_roof", [](L l) { return number(l.traffic.most()); }},
        {"moved of what the roof moves", "", [](L l) { return traffic_bar(l.traffic); }, Shown::page},
    };
    std::vector<Line> lines;
    for (const Measurement* row : step_rows(study.results.rows))
        for (LevelTraffic& traffic : traffic_of(study, *row)) lines.push_back({*row, std::move(traffic)});
    return table_of(columns, lines);
}

DataTable ceilings_table(const Study& study)
{
    static const std::vector<ColumnOf<Ceiling>> columns{
        {"", "device", [](C c) { return word(c.device); }},
        {"", "kind", [](C c) { return word(name(c.kind)); }},
        {"", "level", [](C c) { return word(c.level); }},
        {"", "operation", [](C c) { return word(c.operation); }},
        {"", "precision", [](C c) { return word(c.precision); }},
        {"", "isa", [](C c) { return word(c.isa); }},
        {"", "threads", [](C c) { return count(c.threads); }},
        {"", "rate_median_per_s", [](C c) { return number(c.rate.median.value); }},
        // One sample has no interval, and a lower bound no upper end.
        {"", "rate_low_per_s", [](C c) { return only_if(c.rate.n != 1, number(c.rate.low.value)); }},
        {"", "rate_high_per_s",
         [](C c) { return only_if(c.rate.n != 1 && c.steadiness != Steadiness::at_least, number(c.rate.high.value)); }},
        {"", "unit", [](C c) { return word(c.unit()); }},
        {"", "samples", [](C c) { return count(c.rate.n); }},
        // Of the samples of a lower bound, too: from here to its rate the draws of a bound go.
        {"", "samples_high_per_s", [](C c) { return number(c.rate.high.value); }},
        {"", "working_set_low_bytes", [](C c) { return number(c.working_set_low.value); }},
        {"", "working_set_high_bytes", [](C c) { return number(c.working_set_high.value); }},
        {"", "condition", [](C c) { return word(c.condition); }},
        {"", "working_set_bytes", [](C c) { return number(c.working_set.value); }},
        {"", "variant", [](C c) { return word(c.variant); }},
        {"", "clock_median_hz", [](C c) { return number(c.clock.median.value); }},
        {"", "steadiness", [](C c) { return word(name(c.steadiness)); }},
        {"", "rounds", [](C c) { return count(c.rounds); }},
        {"", "known", [](C c) { return word(name(c.known)); }},
        {"", "looks", [](C c) { return only_if(c.times > 0, count(c.times)); }},
        {"", "looks_over_s", [](C c) { return only_if(c.times > 0, number(c.over.value)); }},
    };
    return table_of(columns, study.ceilings.all);
}

DataTable bandwidth_table(const Study& study)
{
    static const std::vector<ColumnOf<PointSummary>> columns{
        {"", "device", [](Summary s) { return word(s.best.device); }},
        {"", "bench", [](Summary s) { return word(s.best.bench); }},
        {"", "operation", [](Summary s) { return axis(s, "operation"); }},
        {"", "isa", [](Summary s) { return axis(s, "isa"); }},
        {"", "threads", [](Summary s) { return count(threads_of(s.best)); }},
        {"", "placement", [](Summary s) { return axis(s, "placement"); }},
        {"", "pages", [](Summary s) { return axis(s, "pages"); }},
        {"", "path", [](Summary s) { return axis(s, "path"); }},
        {"", "working_set_bytes", [](Summary s) { return number(s.best.point.number("working_set")); }},
        {"", "rate_*_byte_per_s", [](Summary s) { return range(s.sustained().rate, "B/s"); }},
        {"", "samples", [](Summary s) { return count(s.sustained().rate.n); }},
        {"", "rounds", [](Summary s) { return count(s.rounds); }},
        {"", "known", [](Summary s) { return word(name(s.best.time_known)); }},
    };
    std::vector<PointSummary> points = summarize_points(calibration_rows(study));
    std::erase_if(points, [](Summary s) { return !is_of_sweep(s); });
    return table_of(columns, points);
}

DataTable ert_table(const Study& study)
{
    static const std::vector<ColumnOf<CurvePoint>> columns{
        {"", "device", [](D d) { return word(std::get<0>(d.key)); }},
        {"", "precision", [](D d) { return word(std::get<1>(d.key)); }},
        {"", "threads", [](D d) { return count(std::get<2>(d.key)); }},
        {"", "working_set_bytes", [](D d) { return number(d.bytes); }},
        {"", "intensity_flop_per_byte", [](D d) { return number(d.dot.intensity); }},
        {"", "rate_*_flop_per_s", [](D d) { return range(d.dot.rate, "FLOP/s"); }},
        {"", "samples", [](D d) { return count(d.dot.rate.n); }},
        {"", "level", [](D d) { return name_cell(d.level); }},
        {"", "roofs_allow_flop_per_s", [](D d) { return only_if(d.allowed > 0, number(d.allowed)); }},
        {"", "known", [](D d) { return word(d.how); }},
    };
    const std::string_view how = time_known(calibration_rows(study));
    std::vector<CurvePoint> points;
    for (const auto& [key, curves] : curves_of(study)) {
        const Roofs roofs = roofs_over(study.ceilings, key);
        for (const auto& [bytes, dots] : curves) {
            const std::size_t level = level_of(bytes, roofs, study.ceilings);
            const std::string name = roofs.levels.empty() ? "" : roofs.levels[level]->level;
            for (const Dot& dot : dots)
                points.push_back({key, bytes, dot, name, allowed(roofs, level, dot.intensity), how});
        }
    }
    return table_of(columns, points);
}

}  // namespace roof::analysis
