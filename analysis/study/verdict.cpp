#include "analysis/study/verdict.hpp"

#include "analysis/roofline/describe.hpp"
#include "analysis/roofline/roofs.hpp"
#include "analysis/table/fitted_text.hpp"
#include "analysis/table/quantities.hpp"
#include "analysis/table/rows.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace roof::analysis {

namespace {

std::string shares_text(const TimeShares& shares)
{
    if (shares.compute + shares.bandwidth + shares.unexplained == 0) return "-";
    return fmt::format("{} / {} / {}", percent(shares.compute), percent(shares.bandwidth), percent(shares.unexplained));
}

std::vector<std::string> verdict_cells(const Study& study, const Measurement& row)
{
    std::vector<std::string> cells{printable(model_of(row)), batch_text(row),         printable(precision_of(row)),
                                   printable(row.device),    printable(data_of(row)), std::string(name(row.status))};
    const Placement* step = step_placement(study.placements, row);
    if (!step) {
        cells.insert(cells.end(), 7, "-");
        return cells;
    }
    const bool placed = !step->binds.empty();
    const double images = row.images_per_second();
    cells.push_back(with_interval(step->seconds, "s"));
    cells.push_back(images > 0 ? plain_number(images) : "-");
    cells.push_back(step->flops.value > 0 ? format_si(step->rate.median.value, "FLOP/s") : "-");
    cells.push_back(step->compute_roof.value > 0 ? percent(step->rate.median / step->compute_roof) : "-");
    cells.push_back(placed ? printable(bottleneck_text(*step)) : "-");
    cells.push_back(shares_text(time_shares(study.placements, row)));
    cells.push_back(placed ? format_duration(step->headroom.value) : "-");
    return cells;
}

constexpr int usual_columns = 108;  ///< of sentences where there is no window

/// What goes first where a window is narrow. What was not measured is listed below the table with its reason.
std::vector<std::string> expendable()
{
    return {"compute / bandwidth / far",
            "model rate",
            "status",
            "data",
            "precision",
            "headroom",
            "device",
            "images/s",
            "of ceiling"};
}

/// How the columns that `table` has are known and meant.
std::string closing(const std::string& table, const std::vector<const Measurement*>& rows, int columns)
{
    const bool counted =
        std::ranges::any_of(rows, [](const Measurement* row) { return row->work.known == Known::counter; });
    std::string text = "\nTimes and ceilings are measured; FLOPs and bytes are analytic";
    text += counted ? ", but for rows whose work was counted: imported, or recorded alone." : ".";
    if (table.find("of ceiling") != std::string::npos) text += " Of roof: the model rate's share of the compute roof.";
    if (table.find("compute / bandwidth / far") != std::string::npos)
        text +=
            " Compute / bandwidth / far: shares of the step time of layers bound by the compute roof, by a bandwidth "
            "roof, and by neither (below half of what their roof allows).";
    return fitted_lines(text, columns > 0 ? columns : usual_columns);
}

std::string reasons(const std::vector<const Measurement*>& rows)
{
    std::string text;
    for (const Measurement* row : rows)
        if (row->status != Status::ok)
            text += fmt::format("  {} {}: {}\n", printable(row->id()), name(row->status), printable(row->reason));
    return text.empty() ? text : "\nNot measured:\n" + text;
}

std::string remarks(const std::vector<const Measurement*>& rows)
{
    std::string text;
    for (const Measurement* row : rows)
        if (!row->remarks.empty()) text += fmt::format("  {}: {}\n", printable(row->id()), printable(row->remarks));
    return text.empty() ? text : "\nRemarks:\n" + text;
}

/// The ceiling that binds a placement; null if it is not among the ceilings.
const Ceiling* binding_roof(const Placement& p, const Ceilings& ceilings)
{
    const Roofs roofs = roofs_of(ceilings, p.device, p.roof_threads);
    if (p.binds_compute) return roofs.precision(p.binds);
    const auto found = std::ranges::find_if(roofs.levels, [&](const Ceiling* roof) { return roof->level == p.binds; });
    return found == roofs.levels.end() ? nullptr : *found;
}

bool is_beyond_intervals(const Placement& p, const Ceilings& ceilings)
{
    if (!p.above || p.seconds.high.value <= 0) return false;
    const Ceiling* const roof = binding_roof(p, ceilings);
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

}  // namespace

std::vector<const Placement*> above_their_roof(const Study& study)
{
    std::vector<const Placement*> above;
    for (const Placement& p : study.placements)
        if (is_beyond_intervals(p, study.ceilings)) above.push_back(&p);
    return above;
}

std::string above_text(const Study& study)
{
    const std::vector<const Placement*> above = above_their_roof(study);
    if (above.empty()) return {};
    const Placement& farthest =
        **std::ranges::max_element(above, {}, [](const Placement* placement) { return placement->fraction; });
    const bool computes = std::ranges::any_of(above, [](const Placement* p) { return p->binds_compute; });
    const bool moves = std::ranges::any_of(above, [](const Placement* p) { return !p->binds_compute; });
    std::string text = fmt::format(
        "{} of {} placed points lie above their roof, beyond all intervals; the farthest, {}, reached {} of {}. ",
        above.size(), study.placements.size(), printable(farthest.name), percent(farthest.fraction),
        printable(farthest.binds));
    if (computes)
        text +=
            "FLOPs may be counted that are not done: taps on padding, and multiplications that some algorithms save. ";
    if (moves) text += "Traffic may be counted that does not happen: operands that the layer before left in a cache. ";
    return text +
           "If neither explains it, the calibration was disturbed or is out of date: `roof calibrate` measures it "
           "again.";
}

std::string calibration_date(const Study& study)
{
    std::string first;
    for (const Measurement& row : study.calibration.rows)
        if (!row.started.empty() && (first.empty() || row.started < first)) first = row.started;
    return minute_of(first);
}

std::string calibration_line(const Study& study)
{
    if (study.calibration.folder.empty()) return {};
    const std::string date = calibration_date(study);
    const std::filesystem::path& folder = study.calibration.folder;
    return "Roofs: the calibration " + printable((folder.parent_path().filename() / folder.filename()).string()) +
           (date.empty() ? "" : " of " + printable(date)) + ".";
}

const Placement* step_placement(std::span<const Placement> placements, const Measurement& row)
{
    const std::string id = row.id();
    const auto found = std::find_if(placements.begin(), placements.end(),
                                    [&](const Placement& p) { return p.scope == Scope::step && p.row == id; });
    return found == placements.end() ? nullptr : &*found;
}

TimeShares time_shares(std::span<const Placement> placements, const Measurement& row)
{
    TimeShares shares;
    const double step = row.seconds.median.value;
    if (!(step > 0)) return shares;
    const std::string id = row.id();
    for (const Placement& p : placements) {
        if (p.scope != Scope::layer || p.row != id) continue;
        const double share = p.seconds.median.value / step;
        if (p.bound() == Bound::compute)
            shares.compute += share;
        else if (p.bound() == Bound::bandwidth)
            shares.bandwidth += share;
        else if (p.bound() != Bound::unknown)
            shares.unexplained += share;
    }
    const double known = shares.compute + shares.bandwidth + shares.unexplained;
    if (known > 0) shares.rest = std::max(0.0, 1 - known);
    return shares;
}

std::vector<const Placement*> most_headroom(std::span<const Placement> placements, const Measurement& row, int n)
{
    const std::string id = row.id();
    std::vector<const Placement*> layers;
    for (const Placement& p : placements)
        if (p.scope == Scope::layer && p.row == id && p.headroom.value > 0) layers.push_back(&p);
    std::stable_sort(layers.begin(), layers.end(),
                     [](const Placement* a, const Placement* b) { return a->headroom > b->headroom; });
    if (layers.size() > static_cast<std::size_t>(std::max(0, n)))
        layers.resize(static_cast<std::size_t>(std::max(0, n)));
    return layers;
}

std::string verdict_table(const Study& study, int columns)
{
    const std::vector<const Measurement*> rows = step_rows(study.results.rows);
    std::string text = calibration_warning(study);
    if (!text.empty()) text += "\n\n";
    if (rows.empty()) return text + "No training steps in this folder.\n";
    const std::vector<std::string> header{"model",      "batch",      "precision",       "device",
                                          "data",       "status",     "step time [95%]", "images/s",
                                          "model rate", "of ceiling", "bound by",        "compute / bandwidth / far",
                                          "headroom"};
    std::vector<std::vector<std::string>> cells;
    for (const Measurement* row : rows) cells.push_back(verdict_cells(study, *row));
    const std::string table =
        fitted_table(header, cells, expendable(), columns, {"model", "batch", "precision", "device", "data"});
    const auto line = [](const std::string& sentence) { return sentence.empty() ? sentence : "\n" + sentence + "\n"; };
    const std::string below = reasons(rows) + remarks(rows) + line(above_text(study)) + line(calibration_line(study));
    return fitted_lines(text, text.empty() ? 0 : columns) + table + fitted_lines(below, below.empty() ? 0 : columns) +
           closing(table, rows, columns);
}

std::string top_headroom(const Study& study, int n, int columns)
{
    std::string text;
    for (const Measurement* row : largest_batches(study.results.rows)) {
        const std::vector<const Placement*> layers = most_headroom(study.placements, *row, n);
        if (layers.empty()) continue;
        std::vector<std::vector<std::string>> cells;
        for (const Placement* p : layers)
            cells.push_back({printable(p->name), printable(p->kind), std::string(roof::name(*p->phase)),
                             format_duration(p->seconds.median.value), percent(p->seconds.median / row->seconds.median),
                             printable(bottleneck_text(*p)), percent(p->fraction), format_duration(p->headroom.value)});
        if (!text.empty()) text += "\n";
        text += fitted_lines(printable(title_of(*layers.front())) + ": what reaching the roof would save\n", columns) +
                fitted_table({"layer", "kind", "phase", "time", "of step", "roof", "reached", "headroom"}, cells,
                             {"kind", "of step", "reached"}, columns);
    }
    if (!text.empty()) return text;
    const std::string warning = calibration_warning(study);
    return fitted_lines((warning.empty() ? "No layer was measured below its roof." : warning) + "\n", columns);
}

}  // namespace roof::analysis
