// What lasts, and joules: docs/method.md, "What lasts, and joules".
#include "analysis/study/tables.hpp"
#include "analysis/table/quantities.hpp"
#include "analysis/table/rows.hpp"

#include <algorithm>
#include <utility>

namespace roof::analysis {
namespace {

struct EnergyRow {
    const Measurement& row;
    std::optional<Phase> phase;
    double least;  ///< joules; 0 if not known

    const Estimate<Joules>& energy() const
    {
        const SustainedLaunches& all = row.sustained;
        return !phase                      ? all.energy
               : *phase == Phase::forward  ? all.forward
               : *phase == Phase::backward ? all.backward
                                           : all.update;
    }
    double joules() const { return energy().median.value; }  ///< 0 if not known
    Cell if_whole(Cell cell) const { return only_if(!phase, std::move(cell)); }
};

Cell counted(const Measurement& row)
{
    return only_if(row.sustained.energy.median.value > 0,
                   word(name(row.time_known == Known::emulated ? Known::emulated : Known::counter)));
}

/// FLOPs of a probe of compute, bytes of one of bandwidth.
double work_done(const Measurement& row)
{
    return row.role == Role::compute ? row.work.flops.value : row.work.compulsory.value;
}

std::string unit_of(const Measurement& row, const char* per)
{
    return (row.role == Role::compute ? "FLOP/" : "B/") + std::string(per);
}

/// An exactly known amount over a time or an energy.
Cell over(double done, const Spread& by, const std::string& unit)
{
    if (by.low <= 0 || done <= 0) return only_if(false, numeric_text(""));
    return range(done / by, unit);
}

Cell if_known(double value, std::string_view unit)
{
    return only_if(value > 0, amount(value, unit));
}

bool is_memory(const Measurement& row, const std::vector<Measurement>& all)
{
    return row.bench == "bandwidth" && std::ranges::none_of(all, [&](const Measurement& other) {
               return other.bench == row.bench && other.device == row.device &&
                      other.point.integer("working_set") > row.point.integer("working_set");
           });
}

/// The most work per joule of the sustained probes that serve the step; 0 without one.
double most_per_joule(const Measurement& step, Role role, const Study& study)
{
    double most = 0;
    for (const Measurement& row : study.sustained) {
        const bool serves = row.role == role && row.device == step.device && threads_of(row) == threads_of(step) &&
                            (role == Role::compute ? precision_of(row) == precision_of(step) &&
                                                         row.point.text_or("operation", "") != "tile_fp16_sums"
                                                   : is_memory(row, study.sustained));
        if (serves && row.sustained.energy.median.value > 0)
            most = std::max(most, work_done(row) / row.sustained.energy.median.value);
    }
    return most;
}

/// The joules that a step, or one of its phases, needs at least: over its parts the larger of executed FLOPs over the
/// most FLOPs per joule, and compulsory bytes over the most bytes per joule; 0 if one of these was not measured.
double least_joules(const Study& study, const Measurement& row, std::optional<Phase> phase)
{
    const double flops = most_per_joule(row, Role::compute, study);
    const double bytes = most_per_joule(row, Role::bandwidth, study);
    double sum = 0;
    for (const PartMeasurement& one : row.parts) {
        const Work& work = one.part.work;
        if (flops <= 0 || bytes <= 0 || (phase && one.part.phase != *phase)) continue;
        const double done = work.executed.value > 0 ? work.executed.value : work.flops.value;
        sum += std::max(done / flops, work.compulsory.value / bytes);
    }
    return sum;
}

}  // namespace

DataTable sustained_table(const Study& study)
{
    using R = const Measurement&;
    static const std::vector<ColumnOf<Measurement>> columns{
        {"", "row", [](R row) { return word(row.id()); }},
        {"probe", "", [](R row) { return word(row.bench); }},
        {"device", "device", [](R row) { return word(device_text(row.device, threads_of(row))); }},
        {"operation", "operation", [](R row) { return name_cell(row.point.text_or("operation", "")); }},
        {"isa", "isa", [](R row) { return name_cell(row.point.text_or("isa", "")); }},
        {"precision", "precision", [](R row) { return name_cell(precision_of(row)); }},
        {"launches of milliseconds", "burst_*_per_s",
         [](R row) { return over(work_done(row), row.seconds, unit_of(row, "s")); }},
        {"what lasts", "sustained_*_per_s",
         [](R row) { return over(work_done(row), row.sustained.seconds, unit_of(row, "s")); }},
        {"of it", "share_of_burst", [](R row) { return share(row.seconds.median / row.sustained.seconds.median); }},
        {"clock", "clock_hz", [](R row) { return if_known(row.sustained.clock.value, "Hz"); }},
        {"power", "instant_power_w", [](R row) { return if_known(row.sustained.instant.value, "W"); }},
        {"limit", "power_limit_w", [](R row) { return if_known(row.sustained.limit.value, "W"); }},
        {"per joule", "per_joule_*",
         [](R row) { return over(work_done(row), row.sustained.energy, unit_of(row, "J")); }},
        {"", "known", [](R row) { return word(name(row.time_known)); }},
        {"", "energy_known", counted},
    };
    return table_of(columns, study.sustained,
                    {.title = "What lasts, beside launches of milliseconds (measured; joules: counter)",
                     .expendable = {"limit", "clock", "launches of milliseconds"}});
}

DataTable energy_table(const Study& study)
{
    using E = const EnergyRow&;
    static const std::vector<ColumnOf<EnergyRow>> columns{
        {"part", "part", [](E e) { return word(e.phase ? name(*e.phase) : "step"); }},
        {"joules", "energy_*_j", [](E e) { return only_if(e.joules() > 0, range(e.energy(), "J")); }},
        {"what lasts", "sustained_*_s", [](E e) { return e.if_whole(range(e.row.sustained.seconds, "s")); }},
        {"images/J", "images_per_j_*",
         [](E e) {
             return over(e.phase ? 0 : e.row.images(), e.energy(), batch_items({&e.row, 1}) + "/J");
         }},
        {"of the step", "share_of_step",
         [](E e) { return only_if(e.joules() > 0, share(e.joules() / e.row.sustained.energy.median.value)); }},
        {"of the energy roof", "share_of_roof",
         [](E e) { return only_if(e.joules() > 0 && e.least > 0, share(e.least / e.joules())); }},
        {"", "least_j", [](E e) { return if_known(e.least, "J"); }},
        {"power", "instant_power_w", [](E e) { return e.if_whole(if_known(e.row.sustained.instant.value, "W")); }},
        {"limit", "power_limit_w", [](E e) { return e.if_whole(if_known(e.row.sustained.limit.value, "W")); }},
        {"", "known", [](E e) { return counted(e.row); }},
    };
    std::vector<EnergyRow> rows;
    for (const Measurement* row : measured_steps(study.results.rows)) {
        if (row->sustained.seconds.median.value <= 0) continue;
        rows.push_back({*row, {}, least_joules(study, *row, {})});
        for (const Phase phase : {Phase::forward, Phase::backward, Phase::update})
            if (row->sustained.energy.median.value > 0) rows.push_back({*row, phase, least_joules(study, *row, phase)});
    }
    DataTable table =
        table_of_steps([](E e) -> auto& { return e.row; }, columns, rows,
                       {.title = "What lasts of each step, and joules (counter)", .expendable = {"limit", "power"}});
    table.columns[table.column("images/J")].title = batch_items(study.results.rows) + "/J";
    return table;
}

}  // namespace roof::analysis
