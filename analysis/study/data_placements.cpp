// The placements: a line per placement and memory level; and what each roof would need alone.
#include "analysis/roofline/needs.hpp"
#include "analysis/study/data_tables.hpp"

namespace roof::analysis {

namespace {

/// A placement at one of its levels; null where there are no ceilings.
struct Line {
    const Placement& p;
    const LevelPlacement* level;
};

/// Without ceilings there is no such number: an empty cell, never a zero.
Value if_placed(const Line& line, double value)
{
    return number_if(!line.p.binds.empty(), value);
}

const std::vector<DataColumn<Line>>& placement_columns()
{
    static const std::vector<DataColumn<Line>> columns{
        {"row", [](const Line& l) { return text(l.p.row); }},
        {"model", [](const Line& l) { return text(l.p.model); }},
        {"batch_images", [](const Line& l) { return Value(l.p.batch); }},
        {"device", [](const Line& l) { return text(l.p.device); }},
        {"precision", [](const Line& l) { return text(l.p.precision); }},
        {"threads", [](const Line& l) { return Value(l.p.threads); }},
        {"scope", [](const Line& l) { return text(name(l.p.scope)); }},
        {"name", [](const Line& l) { return text(l.p.name); }},
        {"kind", [](const Line& l) { return text(l.p.kind); }},
        {"phase", [](const Line& l) { return l.p.phase ? text(roof::name(*l.p.phase)) : Value(); }},
        {"implementation", [](const Line& l) { return text(l.p.implementation); }},
        {"time_median_s", [](const Line& l) { return number(l.p.seconds.median.value); }},
        {"time_low_s", [](const Line& l) { return number(l.p.seconds.low.value); }},
        {"time_high_s", [](const Line& l) { return number(l.p.seconds.high.value); }},
        {"samples", [](const Line& l) { return Value(l.p.seconds.n); }},
        {"flops", [](const Line& l) { return number(l.p.flops.value); }},
        {"work_known", [](const Line& l) { return text(roof::name(l.p.known)); }},
        {"rate_median_flop_per_s", [](const Line& l) { return number(l.p.rate.median.value); }},
        {"rate_low_flop_per_s", [](const Line& l) { return number(l.p.rate.low.value); }},
        {"rate_high_flop_per_s", [](const Line& l) { return number(l.p.rate.high.value); }},
        {"level", [](const Line& l) { return l.level ? text(l.level->level) : Value(); }},
        {"level_low_bytes", [](const Line& l) { return l.level ? number(l.level->low.value) : Value(); }},
        {"level_high_bytes", [](const Line& l) { return l.level ? number(l.level->high.value) : Value(); }},
        {"level_intensity_low_flop_per_byte",
         [](const Line& l) { return l.level ? number(l.level->intensity_low.value) : Value(); }},
        {"level_intensity_high_flop_per_byte",
         [](const Line& l) { return l.level ? number(l.level->intensity_high.value) : Value(); }},
        {"level_roof_byte_per_s", [](const Line& l) { return l.level ? number(l.level->roof.value) : Value(); }},
        {"compute_roof_flop_per_s",
         [](const Line& l) { return number_if(l.p.compute_roof.value > 0, l.p.compute_roof.value); }},
        {"binds", [](const Line& l) { return text(l.p.binds); }},
        {"attainable_s", [](const Line& l) { return if_placed(l, l.p.attainable.value); }},
        {"fraction_reached", [](const Line& l) { return if_placed(l, l.p.fraction); }},
        {"headroom_s", [](const Line& l) { return if_placed(l, l.p.headroom.value); }},
        {"note", [](const Line& l) { return text(l.p.note); }},
    };
    return columns;
}

struct Layer {
    const Placement& p;
    Needs needs;
};

const std::vector<DataColumn<Layer>>& time_columns()
{
    static const std::vector<DataColumn<Layer>> columns{
        {"row", [](const Layer& l) { return text(l.p.row); }},
        {"layer", [](const Layer& l) { return text(l.p.name); }},
        {"kind", [](const Layer& l) { return text(l.p.kind); }},
        {"phase", [](const Layer& l) { return l.p.phase ? text(roof::name(*l.p.phase)) : Value(); }},
        {"time_median_s", [](const Layer& l) { return number(l.p.seconds.median.value); }},
        {"time_low_s", [](const Layer& l) { return number(l.p.seconds.low.value); }},
        {"time_high_s", [](const Layer& l) { return number(l.p.seconds.high.value); }},
        {"memory_allows_s", [](const Layer& l) { return number(l.needs.memory.value); }},
        {"compute_allows_s",
         [](const Layer& l) { return number_if(l.p.compute_roof.value > 0, l.needs.compute.value); }},
        {"known", [](const Layer& l) { return text(roof::name(l.p.known)); }},
    };
    return columns;
}

}  // namespace

DataTable placements_table(const Study& study)
{
    std::vector<Line> lines;
    for (const Placement& p : study.placements) {
        for (const LevelPlacement& level : p.levels) lines.push_back({p, &level});
        if (p.link) lines.push_back({p, &*p.link});
        if (p.levels.empty()) lines.push_back({p, nullptr});
    }
    return table_of(placement_columns(), lines);
}

DataTable time_table(const Study& study)
{
    std::vector<Layer> layers;
    for (const Placement& p : study.placements)
        if (p.scope == Scope::layer && !p.levels.empty()) layers.push_back({p, needs_of(p)});
    return table_of(time_columns(), layers);
}

}  // namespace roof::analysis
