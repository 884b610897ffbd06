#include "analysis/study/ceilings/ceiling_tables.hpp"

#include "analysis/table/rows.hpp"
#include "ert/method/ceilings/point_summary.hpp"

#include <algorithm>

namespace roof::analysis {
namespace {

bool is_of_curve(const PointSummary& point)
{
    const Measurement& row = point.best;
    return row.role == Role::compute && point.rounds > 0 && row.point.has("intensity") &&
           row.point.has("working_set") && row.work.flops.value > 0 && row.work.compulsory.value > 0;
}

/// The points of the rows of curves, in the folder, in its calibration, or in both together.
std::vector<PointSummary> summaries_of(const Study& study)
{
    const auto is_of_curves = [](const Measurement& row) {
        return row.role == Role::compute && row.point.has("intensity");
    };
    const bool here = std::ranges::any_of(study.results.rows, is_of_curves);
    const bool there =
        study.calibration.folder != study.results.folder && std::ranges::any_of(study.calibration.rows, is_of_curves);
    if (!here || !there)
        return summarize_points(here ? std::span(study.results.rows) : std::span(study.calibration.rows));
    std::vector<Measurement> rows;
    for (const Measurement* row : all_rows(study))
        if (is_of_curves(*row)) rows.push_back(*row);
    return summarize_points(rows);
}

}  // namespace

std::map<CurveKey, Curves> curves_of(const Study& study)
{
    std::map<CurveKey, Curves> pictures;
    for (const PointSummary& point : summaries_of(study)) {
        if (!is_of_curve(point)) continue;
        const Measurement& row = point.best;
        Curves& curves = pictures[{row.device, precision_of(row), threads_of(row)}];
        curves[row.point.number("working_set")].push_back(
            {row.work.flops.value / row.work.compulsory.value, point.sustained().rate});
    }
    for (auto& [key, curves] : pictures)
        for (auto& [bytes, dots] : curves)
            std::ranges::sort(dots, [](const Dot& a, const Dot& b) { return a.intensity < b.intensity; });
    return pictures;
}

Roofs roofs_over(const Ceilings& ceilings, const CurveKey& key)
{
    const auto& [device, precision, threads] = key;
    Roofs roofs = roofs_of(ceilings, device, threads);
    for (const Ceiling*& roof : roofs.levels)
        if (const Ceiling* load = fastest_by(ceilings, device, roofs.threads, roof->level, "load")) roof = load;
    std::erase_if(roofs.compute, [&](const Ceiling* roof) { return roof->precision != std::get<1>(key); });
    std::erase_if(roofs.mixes, [&](const Ceiling* roof) { return roof->precision != std::get<1>(key); });
    return roofs;
}

std::size_t level_of(double bytes, const Roofs& roofs, const Ceilings& ceilings)
{
    const auto is_too_small = [&](const std::string& name) {
        const bool by_threads = !ceilings.levels_by_threads.empty();
        return std::ranges::any_of(by_threads ? ceilings.levels_by_threads : ceilings.levels, [&](const auto& level) {
            return level.device == roofs.device && level.name == name && level.to.value < bytes &&
                   (!by_threads || level.threads == roofs.threads);
        });
    };
    std::size_t level = 0;
    while (level + 1 < roofs.levels.size() && is_too_small(roofs.levels[level]->level)) ++level;
    return level;
}

double allowed(const Roofs& roofs, std::size_t level, double intensity)
{
    if (roofs.compute.empty() || roofs.levels.empty()) return 0;
    return std::min(roofs.compute.front()->rate.median.value, roofs.levels[level]->rate.median.value * intensity);
}

}  // namespace roof::analysis
