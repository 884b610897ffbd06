// Training steps: the verdict, batch trajectories, headroom, breakdown, what-if, and rows that were not measured.
#include "analysis/roofline/roofs.hpp"
#include "analysis/study/steps/verdict.hpp"
#include "analysis/study/steps/whatif.hpp"
#include "analysis/study/tables.hpp"
#include "analysis/table/html.hpp"
#include "analysis/table/quantities.hpp"
#include "analysis/table/rows.hpp"

#include <fmt/format.h>

namespace roof::analysis {
namespace {

/// A training step and its placement, null if it was not measured.
struct PlacedStep {
    const Measurement& row;
    const Placement* p;
    StepTimes times;
    Scaling scaling;
    std::optional<BusyCost> busy;

    bool is_placed() const { return p != nullptr && !p->binds.empty(); }
    bool has_shares() const { return is_placed() && !row.parts.empty(); }
    /// Of the time that the answer divides too; unknown without layers.
    Cell share_of_time(double seconds) const { return only_if(has_shares(), number(seconds / times.all())); }
    bool has_peak() const { return p != nullptr && p->compute_roof.value > 0; }
};
using S = const PlacedStep&;

std::vector<PlacedStep> steps_of(const Study& study)
{
    std::vector<PlacedStep> steps;
    for (const Measurement* row : step_rows(study.results.rows))
        steps.push_back({*row, step_placement(study.placements, *row), step_times(study.placements, *row),
                         scaling_of(*row, study), busy_cost(*row)});
    return steps;
}

constexpr auto measured_row = [](S s) -> auto&
{
    return s.row;
};

/// `without_flops`: the text of work that has none.
Cell rate_cell(const Placement& p, const char* without_flops)
{
    const double rate = p.rate.median.value;
    return number(rate, p.flops.value > 0 ? rate_text(rate, "FLOP/s", p.is_lower_bound) : without_flops);
}

/// The step time. On the page, the reason for a missing time fills the rest of the row.
Cell time_cell(S s)
{
    if (s.p) {
        Cell cell = warning_if(is_unstable(s.row), range(s.p->seconds, "s"));
        if (cell.is_warning) cell.html = escape(cell.text + ", unstable: " + disturbances(s.row));
        return cell;
    }
    Cell cell = absent();
    cell.html = escape(std::string(name(s.row.status)) + (s.row.reason.empty() ? "" : ": " + s.row.reason));
    cell.is_warning = cell.spans_rest = true;
    return cell;
}

Cell peak_cell(S s)
{
    if (!s.has_peak()) return absent();
    return number(s.p->share_of_peak(), share_of_roof(s.p->share_of_peak(), s.p->peak_is_lower_bound));
}

Cell shares_cell(S s)
{
    if (!s.has_shares()) return absent();
    const auto share = [&](double seconds) { return percent(seconds / s.times.all()); };
    return numeric_text(
        fmt::format("{} / {} / {}", share(s.times.compute), share(s.times.bandwidth), share(s.times.unexplained)));
}

/// Of a step that was measured; absent if it is not above 0.
Cell if_measured(S s, double value)
{
    return only_if(s.row.status == Status::ok && value > 0, number(value));
}

Cell use(const std::optional<double>& share)
{
    return share ? number(*share) : absent();
}

Cell shares_bar(S s)
{
    if (!s.has_shares()) return absent();
    const StepTimes& times = s.times;
    std::string title;
    for (const auto& [seconds, what] : {std::pair<double, std::string_view>{times.compute, "compute-bound"},
                                        {times.bandwidth, "bandwidth-bound"},
                                        {times.unexplained, "unexplained"},
                                        {times.outside(), outside_layers},
                                        {times.waited, waiting_for_processor},
                                        {times.communication, exposed_communication},
                                        {times.data, "waiting for data"}})
        if (seconds > 0)
            title += fmt::format("{}{} {}", title.empty() ? "" : ", ", what, percent(seconds / times.all()));
    Cell cell;
    cell.html = fmt::format("<span class=\"bar\" role=\"img\" title=\"{0}\" aria-label=\"{0}\">", title);
    for (const auto& [seconds, css_class] : {std::pair{times.compute, "compute"},
                                             {times.bandwidth, "bandwidth"},
                                             {times.unexplained, "unexplained"},
                                             {times.all() - times.layers, "rest"}})
        cell.html +=
            fmt::format("<i class=\"{}\" style=\"width:{:.1f}%\"></i>", css_class, 100 * seconds / times.all());
    cell.html += "</span>";
    return cell;
}

struct Headroom {
    const Measurement& row;
    const Placement& p;
    int rank;
};
using H = const Headroom&;

const LevelPlacement* farthest(H h)
{
    return h.p.levels.empty() ? nullptr : &h.p.levels.back();
}

struct Share {
    const Measurement& row;
    const char* of;  ///< "phase" or "kind"
    Segment segment;
};

}  // namespace

Cell phase_cell(const Placement& p)
{
    return p.phase ? word(p.phase_name()) : absent();
}

DataTable verdict_table(const Study& study)
{
    static const std::vector<ColumnOf<PlacedStep>> columns{
        {"status", "status", [](S s) { return word(status_text(s.row), name(s.row.status)); }, Shown::terminal},
        {"", "reason", [](S s) { return word(s.row.reason); }},
        {"step time [95%]", "time_*_s", time_cell},
        {"n", "samples", [](S s) { return s.p ? count(s.p->seconds.n, samples_text(s.p->seconds.n)) : absent(); }},
        {"images/s", "images_per_s",
         [](S s) {
             const double images = s.row.images_per_second().median;
             return only_if(s.p && batch_of(s.row) > 0, number(images, images > 0 ? plain_number(images) : "-"));
         }},
        {"tokens/s", "tokens_per_s",
         [](S s) {
             const double tokens = s.row.images_per_second().median * static_cast<double>(tokens_each(s.row));
             return only_if(s.p && tokens > 0, number(tokens, plain_number(tokens)));
         }},
        {"speedup", "speedup", [](S s) { return speedup_cell(s.scaling); }},
        {"efficiency", "efficiency", [](S s) { return efficiency_cell(s.scaling); }},
        {"exposed", "exposed_s", [](S s) { return only_if(s.p && s.row.ranks() > 1, seconds(s.row.exposed.median)); }},
        {"reached", "share_of_attainable",
         [](S s) { return s.is_placed() ? number(s.p->fraction(), share_text(*s.p)) : absent(); }},
        {"", "share_is_upper_bound", [](S s) { return s.is_placed() ? truth(s.p->is_at_most()) : absent(); }},
        {"of peak", "share_of_peak", peak_cell},
        {"", "share_of_peak_is_upper_bound",
         [](S s) { return s.has_peak() ? truth(s.p->peak_is_lower_bound) : absent(); }},
        {"model rate", "rate_median_flop_per_s", [](S s) { return s.p ? rate_cell(*s.p, "-") : absent(); }},
        {"", "compute_roof_flop_per_s", [](S s) { return s.has_peak() ? number(s.p->compute_roof.value) : absent(); }},
        {"bound by", "binds",
         [](S s) {
             return s.is_placed() && !s.times.no_roof_binds() ? word(bottleneck_text(*s.p), s.p->binds) : absent();
         }},
        {"", "nearer_level_may_bind", [](S s) { return s.is_placed() ? truth(s.p->nearer_may_bind) : absent(); }},
        {"", "attainable_s", [](S s) { return s.is_placed() ? number(s.p->attainable.value) : absent(); }},
        {"compute / bandwidth / unexplained", "", shares_cell, Shown::terminal},
        {"step and wait bound by", "", shares_bar, Shown::page},
        {"headroom", "headroom_s",
         [](S s) { return only_if(s.is_placed(), seconds(s.p ? s.p->headroom() : Seconds{})); }},
        {"", "share_compute_bound", [](S s) { return s.share_of_time(s.times.compute); }},
        {"", "share_bandwidth_bound", [](S s) { return s.share_of_time(s.times.bandwidth); }},
        {"", "share_unexplained", [](S s) { return s.share_of_time(s.times.unexplained); }},
        {"", "share_outside_layers",
         [](S s) { return only_if(s.times.step >= s.times.layers, s.share_of_time(s.times.outside())); }},
        {"", "data_median_s", [](S s) { return only_if(s.row.status == Status::ok, number(s.row.data.median.value)); }},
        {"", "forward_median_s", [](S s) { return if_measured(s, s.row.forward.median.value); }},
        {"", "backward_median_s", [](S s) { return if_measured(s, s.row.backward.median.value); }},
        {"", "update_median_s", [](S s) { return if_measured(s, s.row.update.median.value); }},
        {"", "hidden_s", [](S s) { return only_if(s.p && s.row.ranks() > 1, seconds(s.row.hidden.median)); }},
        {"", "messages_bytes", [](S s) { return if_measured(s, s.row.messages.value); }},
        {"", "bus_byte_per_s", [](S s) { return if_measured(s, s.row.ranks() > 1 ? bus_bandwidth(s.row).value : 0); }},
        {"", "memory_bytes", [](S s) { return only_if(s.row.memory.value > 0, number(s.row.memory.value)); }},
        {"", "variant", [](S s) { return word(s.row.variant); }},
        {"", "known", [](S s) { return word(name(s.row.time_known)); }},
        {"", "unstable", [](S s) { return truth(is_unstable(s.row)); }},
        {"", "remarks", [](S s) { return word(s.row.remarks); }},
        {"", "others_processors", [](S s) { return use(s.row.host.others); }},
        {"", "stolen_processors", [](S s) { return use(s.row.host.stolen); }},
        {"", "waited_share", [](S s) { return use(s.row.host.waited); }},
        {"", "shared_share", [](S s) { return use(s.row.host.shared); }},
        {"", "busy_cost_share", [](S s) { return s.busy ? number(s.busy->share) : absent(); }},
        {"", "busy_cost_known", [](S s) { return s.busy ? word(name(s.busy->known)) : absent(); }},
    };
    const std::vector<PlacedStep> steps = steps_of(study);
    const std::string images = batch_items(study.results.rows) + "/s";
    DataTable table = table_of_steps(
        measured_row, columns, steps,
        {.expendable = {"compute / bandwidth / unexplained", "model rate", "status", "headroom", "scaling", "exposed",
                        "speedup", "n", images, "of peak", "efficiency", "ranks", "bound by"}});
    for (std::size_t i = 0; i < table.rows.size(); ++i)  // named below the table, in one line
        table.rows[i].is_for_programs_only = steps[i].row.status == Status::unsupported;
    table.columns[table.column("images/s")].title = images;
    for (const char* of_some : {"tokens/s", "speedup", "efficiency", "exposed"}) hide_if_empty(table, of_some);
    return table;
}

DataTable trajectories_table(const Study& study)
{
    static const std::vector<ColumnOf<PlacedStep>> columns{
        {"rate of median step", "images_per_s_*",
         [](S s) {
             return range(s.row.images_per_second(), batch_items({&s.row, 1}) + "/s");
         }},
        {"", "speedup", [](S s) { return speedup_cell(s.scaling); }},
        {"", "efficiency", [](S s) { return efficiency_cell(s.scaling); }},
        {"", "exposed_s", [](S s) { return only_if(s.row.ranks() > 1, seconds(s.row.exposed.median)); }},
        {"", "share_of_attainable", [](S s) { return s.is_placed() ? number(s.p->fraction()) : absent(); }},
        {"", "share_of_peak", [](S s) { return s.has_peak() ? number(s.p->share_of_peak()) : absent(); }},
        {"", "share_of_peak_is_upper_bound",
         [](S s) { return s.has_peak() ? truth(s.p->peak_is_lower_bound) : absent(); }},
    };
    std::vector<PlacedStep> steps;
    for (const PlacedStep& step : steps_of(study))
        if (step.p != nullptr && step.p->batch > 0) steps.push_back(step);
    return table_of_steps(measured_row, columns, steps);
}

DataTable headroom_table(const Study& study, const Measurement& row, int n)
{
    static const std::vector<ColumnOf<Headroom>> columns{
        {"", "row", [](H h) { return word(h.p.row); }},
        {"", "rank", [](H h) { return count(h.rank); }},
        {"layer", "layer", [](H h) { return word(h.p.name); }},
        {"kind", "kind", [](H h) { return word(h.p.kind); }},
        {"phase", "phase", [](H h) { return phase_cell(h.p); }},
        {"time", "time_median_s", [](H h) { return seconds(h.p.seconds.median); }, Shown::terminal},
        {"time", "", [](H h) { return range(h.p.seconds, "s"); }, Shown::page},
        {"of step", "share_of_step", [](H h) { return share(h.p.seconds.median / h.row.seconds.median); }},
        {"rate", "rate_median_flop_per_s", [](H h) { return rate_cell(h.p, "no FLOPs"); }, Shown::page},
        {"intensity (FLOP/B)", "",
         [](H h) {
             const LevelPlacement* const at = farthest(h);
             return at ? numeric_text(intensity_text(at->intensity_low, at->intensity_high)) : absent();
         },
         Shown::page},
        {"", "intensity_low_flop_per_byte",
         [](H h) { return farthest(h) ? number(farthest(h)->intensity_low.value) : absent(); }},
        {"", "intensity_high_flop_per_byte",
         [](H h) { return farthest(h) ? number(farthest(h)->intensity_high.value) : absent(); }},
        {"roof", "binds", [](H h) { return word(bottleneck_text(h.p), h.p.binds); }},
        {"", "nearer_level_may_bind", [](H h) { return truth(h.p.nearer_may_bind); }},
        {"reached", "share_of_attainable", [](H h) { return number(h.p.fraction(), share_text(h.p)); }},
        {"headroom", "headroom_s", [](H h) { return seconds(h.p.headroom()); }},
        {"implementation", "implementation", [](H h) { return word(h.p.implementation); }, Shown::page},
    };
    std::vector<Headroom> layers;
    for (const Placement* p : most_headroom(study.placements, row, n))
        layers.push_back({row, *p, static_cast<int>(layers.size()) + 1});
    return table_of(columns, layers,
                    {.title = layers.empty() ? "" : step_title(row, study.results.rows),
                     .expendable = {"kind", "of step", "reached"}});
}

DataTable headroom_table(const Study& study)
{
    DataTable all = headroom_table(study, {}, 0);  // the columns
    for (const Measurement* row : step_rows(study.results.rows))
        append(all, headroom_table(study, *row, static_cast<int>(row->parts.size())));
    return all;
}

DataTable breakdown_table(const Study& study)
{
    static const std::vector<ColumnOf<Share>> columns{
        {"", "row", [](const Share& s) { return word(s.row.id()); }},
        {"", "by", [](const Share& s) { return word(s.of); }},
        {"", "name", [](const Share& s) { return word(s.segment.name); }},
        {"", "time_s", [](const Share& s) { return number(s.segment.seconds); }},
        {"", "share_of_step", [](const Share& s) { return number(s.segment.seconds / s.row.seconds.median.value); }},
    };
    std::vector<Share> shares;
    for (const Measurement* row : measured_steps(study.results.rows)) {
        for (Segment& segment : phases_of(*row)) shares.push_back({*row, "phase", std::move(segment)});
        for (Segment& segment : kinds_of(*row)) shares.push_back({*row, "kind", std::move(segment)});
    }
    return table_of(columns, shares);
}

DataTable not_measured_table(const Study& study)
{
    static const std::vector<ColumnOf<Measurement>> columns{
        {"row", "row", [](const Measurement& m) { return word(m.id()); }},
        {"status", "status", [](const Measurement& m) { return word(name(m.status)); }},
        {"reason", "reason", [](const Measurement& m) { return word(m.reason); }},
    };
    std::vector<Measurement> rows;
    for (const Measurement* row : all_rows(study))
        if (row->status != Status::ok) rows.push_back(*row);
    return table_of(columns, rows);
}

DataTable what_if_table(const Study& study)
{
    DataTable all = what_if_table({}, "");  // the columns
    if (study.ceilings.all.empty()) return all;
    append(all, what_if_table(what_if(study, all_doubled(study, Role::bandwidth)), "all memory twice as fast"));
    append(all, what_if_table(what_if(study, all_doubled(study, Role::compute)), "arithmetic twice as fast"));
    return all;
}

}  // namespace roof::analysis
