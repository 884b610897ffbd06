#include "analysis/verdict.hpp"

#include "analysis/rows.hpp"
#include "analysis/words.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace roof::analysis {

namespace {

std::string shares_text(const TimeShares& shares)
{
    if (shares.compute + shares.bandwidth + shares.far_below == 0) return "-";
    return fmt::format("{} / {} / {}", percent(shares.compute), percent(shares.bandwidth), percent(shares.far_below));
}

std::vector<std::string> verdict_cells(const Study& study, const Measurement& row)
{
    std::vector<std::string> cells{
        printable(model_of(row)),     batch_of(row) > 0 ? std::to_string(batch_of(row)) : "-",
        printable(precision_of(row)), printable(row.device),
        printable(data_of(row)),      std::string(name(row.status))};
    const Placement* step = step_placement(study.placements, row);
    if (!step) {
        cells.insert(cells.end(), 7, "-");
        return cells;
    }
    const bool placed = !step->binds.empty();
    const double images = row.images_per_second();
    cells.push_back(with_interval(step->seconds, "s"));
    cells.push_back(images > 0 ? plain_number(images) : "-");
    cells.push_back(format_si(step->rate.median.value, "FLOP/s"));
    cells.push_back(step->compute_roof.value > 0 ? percent(step->rate.median / step->compute_roof) : "-");
    cells.push_back(placed ? printable(step->binds) : "-");
    cells.push_back(shares_text(time_shares(study.placements, row)));
    cells.push_back(placed ? format_duration(step->headroom.value) : "-");
    return cells;
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

}  // namespace

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
        if (p.bound() == Bound::compute) shares.compute += share;
        if (p.bound() == Bound::bandwidth) shares.bandwidth += share;
        if (p.bound() == Bound::far_below) shares.far_below += share;
    }
    const double known = shares.compute + shares.bandwidth + shares.far_below;
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

std::string verdict_table(const Study& study)
{
    const std::vector<const Measurement*> rows = step_rows(study.results.rows);
    std::string text = calibration_warning(study);
    if (!text.empty()) text += "\n\n";
    if (rows.empty()) return text + "No training steps in this folder.\n";
    Table table({"model", "batch", "precision", "device", "data", "status", "step time [95%]", "images/s", "model rate",
                 "of compute roof", "bound by", "compute / bandwidth / far", "headroom"});
    for (const Measurement* row : rows) table.add(verdict_cells(study, *row));
    return text + table.text() + reasons(rows) + remarks(rows) +
           "\nTimes and ceilings are measured; FLOPs and bytes are analytic. Compute / bandwidth / far: shares of "
           "the step\ntime of layers held by the compute roof, by a bandwidth roof, and by neither (below half of what "
           "their roof allows).\n";
}

std::string top_headroom(const Study& study, int n)
{
    std::string text;
    for (const Measurement* row : largest_batches(study.results.rows)) {
        const std::vector<const Placement*> layers = most_headroom(study.placements, *row, n);
        if (layers.empty()) continue;
        Table table({"layer", "kind", "phase", "time", "of step", "roof", "reached", "headroom"});
        for (const Placement* p : layers)
            table.add({printable(p->name), printable(p->kind), std::string(roof::name(*p->phase)),
                       format_duration(p->seconds.median.value), percent(p->seconds.median / row->seconds.median),
                       printable(p->binds), percent(p->fraction), format_duration(p->headroom.value)});
        if (!text.empty()) text += "\n";
        text += printable(title_of(*layers.front())) + ": what reaching the roof would save\n" + table.text();
    }
    if (!text.empty()) return text;
    const std::string warning = calibration_warning(study);
    return (warning.empty() ? "No layer was measured below its roof." : warning) + "\n";
}

}  // namespace roof::analysis
