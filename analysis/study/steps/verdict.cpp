#include "analysis/study/steps/verdict.hpp"

#include "analysis/roofline/row_roofs.hpp"

#include "analysis/roofline/roofs.hpp"
#include "analysis/study/tables.hpp"
#include "analysis/table/fitted_text.hpp"
#include "analysis/table/quantities.hpp"
#include "ert/base/ranges.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>

#include <functional>
#include <set>

namespace roof::analysis {
namespace {

constexpr int usual_columns = 108;  ///< width of sentences without a window

/// A footnote on the meaning and origin of the columns that the window shows.
std::string closing(const DataTable& shown, const std::vector<const Measurement*>& rows, int columns)
{
    const auto has_column = [&](const char* title) { return is_in(title, shown.columns, &TableColumn::title); };
    const auto any_is = [&](Known known) {
        return std::ranges::any_of(rows, [&](const Measurement* row) { return row->work.known == known; });
    };
    const bool emulated =
        std::ranges::any_of(rows, [](const Measurement* row) { return row->time_known == Known::emulated; });
    std::string text =
        fmt::format("\nTimes and ceilings are {}; FLOPs and bytes are analytic", emulated ? "emulated" : "measured");
    text += any_is(Known::counter) ? ", except for rows whose work was counted: imported, or recorded alone." : ".";
    if (any_is(Known::simulated)) text += " Those of programs are simulated: under valgrind.";
    if (has_column("reached"))
        text += " Reached: the share of attainable, which is the time that the roofs allow over the time taken.";
    if (has_column("of peak")) text += " Of peak: the model rate's share of the compute roof.";
    if (has_column("n")) text += " With n samples below six the interval is their range.";
    if (has_column("compute / bandwidth / unexplained"))
        text +=
            " Compute / bandwidth / unexplained: shares of layers bound by the compute roof, by a bandwidth roof, and "
            "by neither (below half of what their roof allows), of the step and its wait for data (of the layers, "
            "where these, timed apart, took longer), as in the answers.";
    return fitted_lines(text, columns > 0 ? columns : usual_columns);
}

std::string list_of(const std::string& heading, const std::vector<const Measurement*>& rows,
                    const std::function<std::string(const Measurement&)>& text_of)
{
    std::vector<std::string> lines;
    for (const Measurement* row : rows)
        if (const std::string one = text_of(*row); !one.empty()) lines.push_back(row->id() + ": " + one);
    return listed("\n" + heading + ":", lines);
}

bool is_beyond_intervals(const Placement& p, const Ceilings& ceilings)
{
    if (!p.above() || p.seconds.high.value <= 0) return false;
    const Roofs roofs = roofs_of(ceilings, p.device, p.roof_threads);
    const Ceiling* const roof = p.binds_compute ? roofs.precision(p.binds) : roofs.level(p.binds);
    const double leeway = roof != nullptr ? roof->rate.high.value / roof->rate.median.value : 1;
    return p.attainable / p.seconds.high > leeway;
}

/// "2026-11-21T12:26:51Z" -> "2026-11-21 12:26 UTC"
std::string minute_of(const std::string& started)
{
    constexpr std::size_t to_minute = 16;
    if (started.size() < to_minute || started[10] != 'T') return started;
    return started.substr(0, 10) + " " + started.substr(11, to_minute - 11) + " UTC";
}

double seconds_waited(const Measurement& row)
{
    const std::optional<BusyCost> cost = cost_of_others(row);
    return cost ? cost->share * row.seconds.median.value : 0;
}

std::vector<Segment> with_rest(std::vector<Segment> segments, const Measurement& row)
{
    const double step = row.seconds.median.value, rounding = 1e-9 * step;
    double sum = 0;
    for (const Segment& segment : segments) sum += segment.seconds;
    if (sum <= 0) return {};
    const double exposed = std::clamp(row.exposed.median.value, 0.0, std::max(0.0, step - sum));
    if (exposed > rounding) segments.push_back({.name = std::string(exposed_communication), .seconds = exposed});
    const double waited = std::min(seconds_waited(row), step - sum - exposed);
    if (waited > rounding) segments.push_back({.name = std::string(waiting_for_processor), .seconds = waited});
    const double rest = step - sum - exposed - std::max(0.0, waited);
    if (rest > rounding) segments.push_back({.name = std::string(outside_layers), .seconds = rest});
    return segments;
}

}  // namespace

std::optional<BusyCost> cost_of_others(const Measurement& row)
{
    return row.ranks() > 1 ? std::nullopt : busy_cost(row);
}

std::vector<const Placement*> above_their_roof(const Study& study)
{
    std::vector<const Placement*> above;
    for (const Placement& p : study.placements)
        if (is_beyond_intervals(p, p.lasting ? study.lasting : study.ceilings)) above.push_back(&p);
    return above;
}

std::string above_text(const Study& study)
{
    const std::vector<const Placement*> above = above_their_roof(study);
    if (above.empty()) return {};
    const Placement& highest = **std::ranges::max_element(above, {}, &Placement::fraction);
    const bool computes = std::ranges::any_of(above, [](const Placement* p) { return p->binds_compute; });
    const auto served = std::ranges::count_if(above, [](const Placement* p) { return !p->served_by.empty(); });
    const auto writing = std::ranges::count_if(above, [](const Placement* p) {
        return p->served_by.empty() && p->note.find(writes_as_copies_words) != std::string::npos;
    });
    std::string text = fmt::format(
        "{} of {} placed points {}, beyond all intervals; the highest, {}, took 1/{} of the time that the {} roof "
        "allows.",
        above.size(), study.placements.size(), above.size() == 1 ? "lies above its roof" : "lie above their roof",
        printable(highest.name), plain_number(highest.fraction()), printable(highest.binds));
    if (served > 0)
        text += fmt::format(
            " {} of them {} within the roof of a cache, which may still have held operands from the layer before.",
            served, served == 1 ? "is" : "are");
    if (writing > 0)
        text += fmt::format(
            " {} of them {} more than is read, and the roof has the rate of copies for that until stores are measured.",
            writing, writing == 1 ? "writes" : "write");
    if (computes)
        text +=
            " Some counted FLOPs may not be executed: taps on padding, and multiplications that some algorithms save.";
    if (served + writing < std::ssize(above))
        text +=
            " If that does not explain the others, the calibration was disturbed or is out of date: `roof calibrate` "
            "measures it again.";
    return text;
}

std::string calibration_date(const Study& study)
{
    std::string first;
    for (const Measurement& row : calibration_rows(study))
        if (!row.started.empty() && (first.empty() || row.started < first)) first = row.started;
    return minute_of(first);
}

std::string calibration_line(const Study& study)
{
    const std::vector<Ceiling>& all = study.ceilings.all;
    if (study.ceilings.known() == Known::spec)
        return "Roofs: the data sheet of " + study.calibration.machine.name + " (spec).";
    if (study.calibration.folder.empty())
        return all.empty() || all.front().times == 0 ? ""
                                                     : "Roofs: the looks at this machine in the folder's looks.csv. " +
                                                           calibration_quality(study.ceilings, {});
    const std::string date = calibration_date(study);
    const std::filesystem::path& folder = study.calibration.folder;
    return "Roofs: the calibration " + printable((folder.parent_path().filename() / folder.filename()).string()) +
           (date.empty() ? "" : " of " + printable(date)) + ". " +
           calibration_quality(study.ceilings, calibration_rows(study));
}

StepTimes step_times(std::span<const Placement> placements, const Measurement& row)
{
    const Placement* const step = step_placement(placements, row);
    if (step == nullptr) return {};
    StepTimes times{
        .step = row.seconds.median.value, .communication = row.exposed.median.value, .data = row.data.median.value};
    for (const Placement* p : row.parts.empty() ? std::vector{step} : layers_of(placements, row)) {
        const double seconds = p->seconds.median.value;
        times.layers += seconds;
        const Bound bound = p->bound();
        if (bound == Bound::unknown) continue;
        if (bound == Bound::bandwidth) times.levels[p->binds] += seconds;
        if (bound == Bound::bandwidth && p->nearer_may_bind) times.of_nearer[p->binds] += seconds;
        (bound == Bound::compute     ? times.compute
         : bound == Bound::bandwidth ? times.bandwidth
                                     : times.unexplained) += seconds;
    }
    times.waited = std::clamp(times.step - times.layers - times.communication, 0.0, seconds_waited(row));
    return times;
}

std::vector<const Placement*> most_headroom(std::span<const Placement> placements, const Measurement& row, int n)
{
    std::vector<const Placement*> layers = layers_of(placements, row);
    std::erase_if(layers, [](const Placement* p) { return !(p->headroom().value > 0); });
    std::ranges::stable_sort(layers, std::greater{}, &Placement::headroom);
    layers.resize(std::min(layers.size(), static_cast<std::size_t>(std::max(0, n))));
    return layers;
}

std::vector<std::string> reasons_not_measured(const Study& study)
{
    std::map<std::string, std::vector<const Measurement*>> missing;  // by status and reason
    for (const Measurement* row : step_rows(study.results.rows))
        if (row->status != Status::ok) missing[fmt::format("{}: {}", name(row->status), row->reason)].push_back(row);
    std::vector<std::string> lines;
    for (const auto& [reason, rows] : missing) {
        std::set<std::string> devices;
        for (const Measurement* row : rows) devices.insert(row->device);
        const std::string on = join(std::vector(devices.begin(), devices.end()), " and ");
        lines.push_back(printable(
            (rows.size() == 1 ? rows.front()->id() : fmt::format("{} rows on {}", rows.size(), on)) + " " + reason));
    }
    return lines;
}

std::string verdict_text(const Study& study, int columns)
{
    const std::vector<const Measurement*> rows = step_rows(study.results.rows);
    std::string text = calibration_warning(study);
    if (!text.empty()) text = fitted_lines(text + "\n\n", columns);
    if (rows.empty()) return text + "No training steps in this folder.\n";
    const DataTable table = verdict_table(study);
    const auto line = [](const std::string& sentence) { return sentence.empty() ? sentence : "\n" + sentence + "\n"; };
    const std::string below =
        listed("\nNot measured:", reasons_not_measured(study)) +
        list_of("Unstable (the ends of the interval are more than a factor of two apart)", rows,
                [](const Measurement& row) { return is_unstable(row) ? disturbances(row) : ""; }) +
        list_of("Measured on a busy machine", rows, busy_text) +
        list_of("Remarks", rows, [](const Measurement& row) { return row.remarks; }) + line(above_text(study));
    return text + to_text(table, columns) + fitted_lines(below, columns) +
           closing(fitted(table, columns), rows, columns);
}

std::string headroom_text(const Study& study, int n, int columns)
{
    std::string text;
    for (const Measurement* row : largest_batches(study.results.rows)) {
        DataTable table = headroom_table(study, *row, n);
        if (table.empty()) continue;
        table.title = printable(table.title) + ": what reaching the roof would save";
        text += (text.empty() ? "" : "\n") + to_text(table, columns);
    }
    const bool has_roofs = std::ranges::any_of(study.placements, [](const Placement& p) { return !p.binds.empty(); });
    return text.empty() && has_roofs ? "No layer was measured below its roof.\n" : text;
}

std::vector<Segment> phases_of(const Measurement& row)
{
    return with_rest({{.name = "forward", .seconds = row.forward.median.value, .is_phase = true},
                      {.name = "backward", .seconds = row.backward.median.value, .is_phase = true},
                      {.name = "update", .seconds = row.update.median.value, .is_phase = true}},
                     row);
}

std::vector<Segment> kinds_of(const Measurement& row)
{
    std::map<std::string_view, Segment> by_kind;
    for (const PartMeasurement& part : row.parts) {
        const auto known =
            std::ranges::find(kinds_in_order, part.part.kind == "softmax_cross_entropy" ? "loss" : part.part.kind);
        const Phase phase = part.part.phase;
        const double seconds = part.seconds.median.value;
        Segment& kind = by_kind[phase == Phase::update ? "update" : known != kinds_in_order.end() ? *known : "other"];
        kind.seconds += seconds;
        if (phase == Phase::forward) kind.forward += seconds;
        if (phase == Phase::backward) kind.backward += seconds;
    }
    std::vector<Segment> segments;
    for (const std::string_view kind : kinds_in_order) {
        if (!by_kind.contains(kind)) continue;
        segments.push_back(by_kind[kind]);
        segments.back().name = kind;
    }
    return with_rest(std::move(segments), row);
}

}  // namespace roof::analysis
