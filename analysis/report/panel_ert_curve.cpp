// The Empirical Roofline curves: the rate of a loop of loads and multiply-adds at each arithmetic intensity and working
// set, under the measured roofs.
#include "analysis/report/report.hpp"
#include "analysis/report/roof_lines.hpp"
#include "analysis/study/ert_curves.hpp"
#include "analysis/table/quantities.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace roof::analysis {

namespace {

LogPlot plot_of(const Curves& curves, const Roofs& roofs)
{
    Extent intensity, rate;
    for (const auto& [bytes, dots] : curves)
        for (const Dot& dot : dots) {
            intensity.add(dot.intensity);
            rate.add(dot.rate.median.value);
        }
    for (const std::vector<const Ceiling*>& group : {roofs.compute, roofs.mixes})
        for (const Ceiling* roof : group) rate.add(roof->rate.high.value);
    // The frame uses powers of four, like the ticks.
    return {{power_below(4, intensity.low), 4 * power_below(4, intensity.high), 96, 1032},
            {power_below(10, rate.low), power_above(10, rate.high * 1.05), 460, 40},
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
    std::vector<SeriesPoint> points;
    for (const Dot& dot : dots) {
        const double roof = allowed(roofs, level, dot.intensity);
        const std::string share =
            roof > 0 ? fmt::format(", {} of what the roofs allow", percent(dot.rate.median.value / roof)) : "";
        points.push_back({dot.intensity, dot.rate.median.value, dot.rate.low.value, dot.rate.high.value,
                          fmt::format("{} FLOP/B over {}: {}{}", intensity_tick(dot.intensity), format_capacity(bytes),
                                      with_interval(dot.rate, "FLOP/s"), share)});
    }
    draw_series(svg, plot, level, points, 3.2);
}

std::vector<LegendEntry> legend_of(const Curves& curves, const Roofs& roofs, const Ceilings& ceilings)
{
    std::vector<LegendEntry> entries;
    for (const auto& [bytes, dots] : curves) {
        const std::size_t level = level_of(bytes, roofs, ceilings);
        const std::string name = roofs.levels.empty() ? "" : " (" + roofs.levels[level]->level + ")";
        entries.push_back(series_entry(level, format_capacity(bytes) + name));
    }
    return entries;
}

Picture picture(const CurveKey& key, const Curves& curves, const Ceilings& ceilings, const std::string& clip)
{
    const auto& [device, precision, threads] = key;
    const std::string title = fmt::format("{} on {}, {}", precision, device, threads_text(threads));
    const Roofs roofs = roofs_over(ceilings, key);
    const LogPlot plot = plot_of(curves, roofs);
    const std::vector<LegendEntry> legend = legend_of(curves, roofs, ceilings);
    constexpr double height = 516;
    const double width = plot.right() - plot.left();
    Svg svg(1060, height + legend_height(legend, width), "Rate against arithmetic intensity, " + title);
    draw_legend(svg, legend, {plot.left(), height}, width);
    draw_axes(svg, plot, ticks(plot.x.low, plot.x.high, 4), intensity_tick, ticks(plot.y.low, plot.y.high, 10),
              [](double v) { return tick_text(v, "FLOP/s"); });
    svg.open_clip(clip, plot);
    draw_roofs(svg, plot, roofs);
    for (const auto& [bytes, dots] : curves)
        draw_curve(svg, plot, bytes, dots, roofs, level_of(bytes, roofs, ceilings));
    name_roofs(svg, plot, roofs);
    svg.close();
    return {title, std::move(svg)};
}

}  // namespace

Content ert_curve_panel(const Study& study, const std::string& key)
{
    Content content;
    for (const auto& [what, curves] : curves_of(study))
        content.emplace_back(picture(what, curves, study.ceilings, fmt::format("{}-{}", key, content.size())));
    return content;
}

}  // namespace roof::analysis
