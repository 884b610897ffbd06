#include "analysis/export.hpp"

#include "ert/base/csv.hpp"
#include "ert/base/error.hpp"
#include "ert/base/text.hpp"
#include "ert/method/files.hpp"

namespace roof::analysis {

namespace {

/// A placement at one of its levels; null where there are no ceilings.
struct Line {
    const Placement& p;
    const LevelPlacement* level;
};

template <class Row>
struct Column {
    const char* name;
    std::string (*write)(const Row&);
};

std::string number(double value)
{
    return format_exact(value);
}
/// Without ceilings there is no such number: an empty cell, never a zero.
std::string if_placed(const Line& line, double value)
{
    return line.p.binds.empty() ? "" : number(value);
}

const std::vector<Column<Line>>& placement_columns()
{
    static const std::vector<Column<Line>> columns{
        {"row", [](const Line& l) { return l.p.row; }},
        {"model", [](const Line& l) { return l.p.model; }},
        {"batch_images", [](const Line& l) { return std::to_string(l.p.batch); }},
        {"device", [](const Line& l) { return l.p.device; }},
        {"precision", [](const Line& l) { return l.p.precision; }},
        {"threads", [](const Line& l) { return std::to_string(l.p.threads); }},
        {"scope", [](const Line& l) { return std::string(name(l.p.scope)); }},
        {"name", [](const Line& l) { return l.p.name; }},
        {"kind", [](const Line& l) { return l.p.kind; }},
        {"phase", [](const Line& l) { return l.p.phase ? std::string(roof::name(*l.p.phase)) : std::string(); }},
        {"implementation", [](const Line& l) { return l.p.implementation; }},
        {"time_median_s", [](const Line& l) { return number(l.p.seconds.median.value); }},
        {"time_low_s", [](const Line& l) { return number(l.p.seconds.low.value); }},
        {"time_high_s", [](const Line& l) { return number(l.p.seconds.high.value); }},
        {"samples", [](const Line& l) { return std::to_string(l.p.seconds.n); }},
        {"flops", [](const Line& l) { return number(l.p.flops.value); }},
        {"work_known", [](const Line& l) { return std::string(roof::name(l.p.known)); }},
        {"rate_median_flop_per_s", [](const Line& l) { return number(l.p.rate.median.value); }},
        {"rate_low_flop_per_s", [](const Line& l) { return number(l.p.rate.low.value); }},
        {"rate_high_flop_per_s", [](const Line& l) { return number(l.p.rate.high.value); }},
        {"level", [](const Line& l) { return l.level ? l.level->level : std::string(); }},
        {"level_low_bytes", [](const Line& l) { return l.level ? number(l.level->low.value) : std::string(); }},
        {"level_high_bytes", [](const Line& l) { return l.level ? number(l.level->high.value) : std::string(); }},
        {"level_intensity_low_flop_per_byte",
         [](const Line& l) { return l.level ? number(l.level->intensity_low.value) : std::string(); }},
        {"level_intensity_high_flop_per_byte",
         [](const Line& l) { return l.level ? number(l.level->intensity_high.value) : std::string(); }},
        {"level_roof_byte_per_s", [](const Line& l) { return l.level ? number(l.level->roof.value) : std::string(); }},
        {"compute_roof_flop_per_s",
         [](const Line& l) { return l.p.compute_roof.value > 0 ? number(l.p.compute_roof.value) : std::string(); }},
        {"binds", [](const Line& l) { return l.p.binds; }},
        {"attainable_s", [](const Line& l) { return if_placed(l, l.p.attainable.value); }},
        {"fraction_reached", [](const Line& l) { return if_placed(l, l.p.fraction); }},
        {"headroom_s", [](const Line& l) { return if_placed(l, l.p.headroom.value); }},
        {"note", [](const Line& l) { return l.p.note; }},
    };
    return columns;
}

const std::vector<Column<Ceiling>>& ceiling_columns()
{
    static const std::vector<Column<Ceiling>> columns{
        {"device", [](const Ceiling& c) { return c.device; }},
        {"kind", [](const Ceiling& c) { return std::string(name(c.kind)); }},
        {"level", [](const Ceiling& c) { return c.level; }},
        {"operation", [](const Ceiling& c) { return c.operation; }},
        {"precision", [](const Ceiling& c) { return c.precision; }},
        {"isa", [](const Ceiling& c) { return c.isa; }},
        {"threads", [](const Ceiling& c) { return std::to_string(c.threads); }},
        {"rate_median_per_s", [](const Ceiling& c) { return number(c.rate.median.value); }},
        {"rate_low_per_s", [](const Ceiling& c) { return number(c.rate.low.value); }},
        {"rate_high_per_s", [](const Ceiling& c) { return number(c.rate.high.value); }},
        {"unit", [](const Ceiling& c) { return std::string(c.unit()); }},
        {"samples", [](const Ceiling& c) { return std::to_string(c.rate.n); }},
        {"working_set_low_bytes", [](const Ceiling& c) { return number(c.working_set_low.value); }},
        {"working_set_high_bytes", [](const Ceiling& c) { return number(c.working_set_high.value); }},
        {"condition", [](const Ceiling& c) { return c.condition; }},
        {"working_set_bytes", [](const Ceiling& c) { return number(c.working_set.value); }},
        {"variant", [](const Ceiling& c) { return c.variant; }},
        {"clock_median_hz", [](const Ceiling& c) { return number(c.clock.median.value); }},
        {"steadiness", [](const Ceiling& c) { return std::string(name(c.steadiness)); }},
        {"visits", [](const Ceiling& c) { return std::to_string(c.visits); }},
        {"known", [](const Ceiling&) { return std::string(name(Known::measured)); }},
    };
    return columns;
}

template <class Row>
std::string csv_of(const std::vector<Column<Row>>& columns, const std::vector<Row>& rows)
{
    std::vector<std::string> cells;
    for (const auto& column : columns) cells.emplace_back(column.name);
    std::string text = csv_line(cells);
    for (const Row& row : rows) {
        cells.clear();
        for (const auto& column : columns) cells.push_back(column.write(row));
        text += csv_line(cells);
    }
    return text;
}

}  // namespace

void write_csv(const Study& study, const std::filesystem::path& folder)
{
    std::error_code failure;
    std::filesystem::create_directories(folder, failure);
    if (failure) throw InputError("cannot make folder '" + folder.string() + "': " + failure.message());
    std::vector<Line> lines;
    for (const Placement& p : study.placements) {
        for (const LevelPlacement& level : p.levels) lines.push_back({p, &level});
        if (p.levels.empty()) lines.push_back({p, nullptr});
    }
    write_file(folder / "placements.csv", csv_of(placement_columns(), lines));
    write_file(folder / "ceilings.csv", csv_of(ceiling_columns(), study.ceilings.all));
}

}  // namespace roof::analysis
