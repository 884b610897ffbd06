// The Empirical Roofline's curve: what a loop with loads and multiply-adds reaches at each arithmetic intensity and working
// set, under the roofs that were measured apart from it. The knees must fall where the roofs cross.
#include "analysis/html.hpp"
#include "analysis/panels/panels.hpp"
#include "analysis/panels/roof_lines.hpp"
#include "analysis/rows.hpp"
#include "analysis/words.hpp"
#include "ert/base/text.hpp"
#include "ert/method/sustained.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace roof::analysis {

namespace {

struct Dot {
    double intensity;  ///< FLOP/byte
    Rate rate;         ///< FLOP/s
};

/// Dots by working set in bytes.
using Curves = std::map<double, std::vector<Dot>>;
using PictureKey = std::tuple<std::string, std::string, int>;  ///< device, precision, threads

constexpr int colours = 8;

bool is_of_curve(const Sustained& point)
{
    const Measurement& row = point.best;
    return row.role == Role::compute && point.visits > 0 && row.point.has("intensity") &&
           row.point.has("working_set") && row.work.flops.value > 0 && row.work.compulsory.value > 0;
}

std::map<PictureKey, Curves> curves_of(const std::vector<Measurement>& rows)
{
    std::map<PictureKey, Curves> pictures;
    for (const Sustained& point : sustained(rows)) {
        if (!is_of_curve(point)) continue;
        const Measurement& row = point.best;
        Curves& curves = pictures[{row.device, precision_of(row), threads_of(row)}];
        curves[row.point.number("working_set")].push_back(
            {row.work.flops.value / row.work.compulsory.value, point.rate});
    }
    for (auto& [key, curves] : pictures)
        for (auto& [bytes, dots] : curves)
            std::ranges::sort(dots, [](const Dot& a, const Dot& b) { return a.intensity < b.intensity; });
    return pictures;
}

/// The roofs that this loop stands under: those of loads, and of multiply-adds in its precision.
Roofs roofs_over(const Ceilings& ceilings, const PictureKey& key)
{
    const auto& [device, precision, threads] = key;
    Roofs roofs = roofs_of(ceilings, device, threads);
    for (const Ceiling*& roof : roofs.levels)
        for (const Ceiling& c : ceilings.all)
            if (c.kind == Role::bandwidth && c.device == device && c.level == roof->level &&
                c.threads == roofs.threads && c.operation == "load" && c.condition.empty())
                roof = &c;
    std::erase_if(roofs.compute, [&](const Ceiling* roof) { return roof->precision != std::get<1>(key); });
    std::erase_if(roofs.mixes, [&](const Ceiling* roof) { return roof->precision != std::get<1>(key); });
    return roofs;
}

/// The first level that is not left behind: of a working set between two levels, the farther one.
std::size_t level_of(double bytes, const Roofs& roofs, const Ceilings& ceilings)
{
    const auto is_left_behind = [&](const std::string& name) {
        const bool by_threads = !ceilings.levels_by_threads.empty();
        return std::ranges::any_of(by_threads ? ceilings.levels_by_threads : ceilings.levels, [&](const auto& level) {
            return level.device == roofs.device && level.name == name && level.to.value < bytes &&
                   (!by_threads || level.threads == roofs.threads);
        });
    };
    std::size_t level = 0;
    while (level + 1 < roofs.levels.size() && is_left_behind(roofs.levels[level]->level)) ++level;
    return level;
}

/// What the roofs allow at a level and an intensity, in FLOP/s; 0 if a roof is missing.
double allowed(const Roofs& roofs, std::size_t level, double intensity)
{
    if (roofs.compute.empty() || roofs.levels.empty()) return 0;
    return std::min(roofs.compute.front()->rate.median.value, roofs.levels[level]->rate.median.value * intensity);
}

LogPlot plot_of(const Curves& curves, const Roofs& roofs)
{
    double low = INFINITY, high = 0, slow = INFINITY, fast = 0;
    for (const auto& [bytes, dots] : curves)
        for (const Dot& dot : dots) {
            low = std::min(low, dot.intensity);
            high = std::max(high, dot.intensity);
            slow = std::min(slow, dot.rate.median.value);
            fast = std::max(fast, dot.rate.median.value);
        }
    for (const std::vector<const Ceiling*>& group : {roofs.compute, roofs.mixes})
        for (const Ceiling* roof : group) fast = std::max(fast, roof->rate.high.value);
    // Powers of four, for that is how the ticks go.
    const double left = std::pow(4, std::floor(std::log2(low) / 2));
    const double right = std::pow(4, std::floor(std::log2(high) / 2) + 1);
    return {{left, right, 96, 1032},
            {std::pow(10, std::floor(std::log10(slow))), std::pow(10, std::ceil(std::log10(fast * 1.05))), 460, 40},
            "arithmetic intensity (FLOP/B)",
            "rate (FLOP/s)"};
}

std::string intensity_tick(double value)
{
    return value < 1 ? fmt::format("1/{:g}", std::round(1 / value)) : fmt::format("{:g}", value);
}

void draw_curve(Svg& svg, const LogPlot& plot, double bytes, const std::vector<Dot>& dots, const Roofs& roofs,
                std::size_t level)
{
    svg.open(fmt::format("series s{}", level % colours));
    std::vector<Spot> path;
    for (const Dot& dot : dots) path.push_back(plot(dot.intensity, dot.rate.median.value));
    svg.polyline(path, "curve");
    for (const Dot& dot : dots) {
        const double roof = allowed(roofs, level, dot.intensity);
        const std::string share =
            roof > 0 ? fmt::format(", {} of what the roofs allow", percent(dot.rate.median.value / roof)) : "";
        svg.line(plot(dot.intensity, dot.rate.low.value), plot(dot.intensity, dot.rate.high.value), "curve");
        svg.mark(Shape::circle, plot(dot.intensity, dot.rate.median.value), 3.2, "dot",
                 fmt::format("{} FLOP/B over {}: {}{}", intensity_tick(dot.intensity), format_capacity(bytes),
                             with_interval(dot.rate, "FLOP/s"), share));
    }
    svg.close();
}

std::string legend_of(const Curves& curves, const Roofs& roofs, const Ceilings& ceilings)
{
    std::string html = "<p class=\"legend\">";
    for (const auto& [bytes, dots] : curves) {
        const std::size_t level = level_of(bytes, roofs, ceilings);
        const std::string name = roofs.levels.empty() ? "" : " (" + roofs.levels[level]->level + ")";
        html += fmt::format("<i class=\"s{}\"></i>{} ", level % colours, escape(format_capacity(bytes) + name));
    }
    return html + "</p>\n";
}

std::string picture(const PictureKey& key, const Curves& curves, const Ceilings& ceilings, const std::string& clip)
{
    const auto& [device, precision, threads] = key;
    const std::string title = fmt::format("{} on {}, {} thread{}", precision, device, threads, threads == 1 ? "" : "s");
    const Roofs roofs = roofs_over(ceilings, key);
    const LogPlot plot = plot_of(curves, roofs);
    Svg svg(1060, 516, "Rate against arithmetic intensity, " + title);
    draw_axes(svg, plot, ticks(plot.x.low, plot.x.high, 4), intensity_tick, ticks(plot.y.low, plot.y.high, 10),
              [](double v) { return tick_text(v, "FLOP/s"); });
    svg.open_clip(clip, {plot.left() - 10, plot.top() - 10}, plot.right() - plot.left() + 20,
                  plot.bottom() - plot.top() + 20);
    draw_roofs(svg, plot, roofs);
    for (const auto& [bytes, dots] : curves)
        draw_curve(svg, plot, bytes, dots, roofs, level_of(bytes, roofs, ceilings));
    svg.close();
    return legend_of(curves, roofs, ceilings) + "<figure><figcaption>" + escape(title) +
           "</figcaption>\n<div class=\"scroll\">" + svg.str() + "</div></figure>\n";
}

}  // namespace

std::string ert_curve_panel(const Study& study, const std::string& key)
{
    std::vector<Measurement> rows = study.results.rows;
    if (study.calibration.folder != study.results.folder)
        rows.insert(rows.end(), study.calibration.rows.begin(), study.calibration.rows.end());
    std::string html;
    int count = 0;
    for (const auto& [what, curves] : curves_of(rows))
        html += picture(what, curves, study.ceilings, fmt::format("{}-{}", key, ++count));
    return html;
}

}  // namespace roof::analysis
