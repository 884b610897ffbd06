// The Empirical Roofline curves: the rate of a loop of loads and multiply-adds at each arithmetic intensity and working
// set, under the measured roofs.
#include "analysis/report/report.hpp"
#include "analysis/study/ceilings/ert_curves.hpp"
#include "analysis/table/quantities.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>

#include <cmath>

namespace roof::analysis {

namespace {

std::string intensity_tick(double value)
{
    return value < 1 ? fmt::format("1/{:g}", std::round(1 / value)) : fmt::format("{:g}", value);
}

/// The frame uses powers of four, like the ticks.
Frame frame_around(const Curves& curves, const Roofs& roofs)
{
    Extent intensity, rate;
    for (const auto& [bytes, dots] : curves)
        for (const Dot& dot : dots) {
            intensity.add(dot.intensity);
            rate.add(dot.rate.median.value);
        }
    for (const std::vector<const Ceiling*>& group : {roofs.compute, roofs.mixes})
        for (const Ceiling* roof : group) rate.add(roof->rate.high.value);
    return {{power_below(4, intensity.low), 4 * power_below(4, intensity.high)},
            {power_below(10, rate.low), power_above(10, rate.high * 1.05)}};
}

std::vector<Mark> marks_of(double bytes, const std::vector<Dot>& dots, const Roofs& roofs, std::size_t level)
{
    std::vector<Mark> marks;
    for (const Dot& dot : dots) {
        const double roof = allowed(roofs, level, dot.intensity);
        const std::string share =
            roof > 0 ? fmt::format(", {} of what the roofs allow", percent(dot.rate.median.value / roof)) : "";
        marks.push_back({.x = {dot.intensity, dot.intensity, dot.intensity},
                         .y = Range::of(dot.rate),
                         .radius = 3.2,
                         .title = fmt::format("{} FLOP/B over {}: {}{}", intensity_tick(dot.intensity),
                                              format_capacity(bytes), with_interval(dot.rate, "FLOP/s"), share)});
    }
    return marks;
}

Picture picture(const CurveKey& key, const Curves& curves, const Ceilings& ceilings, const std::string& clip)
{
    const auto& [device, precision, threads] = key;
    const std::string title = fmt::format("{} on {}", precision, device_text(device, threads));
    const Roofs roofs = roofs_over(ceilings, key);
    Figure figure = roofs_figure("Rate against arithmetic intensity, " + title, roofs, frame_around(curves, roofs));
    figure.height = 516;
    figure.x.label = "arithmetic intensity (FLOP/B)";
    figure.x.ticks = ticks(figure.x.frame.low, figure.x.frame.high, 4, intensity_tick);
    for (const auto& [bytes, dots] : curves) {
        const std::size_t level = level_of(bytes, roofs, ceilings);
        const std::string name = roofs.levels.empty() ? "" : " (" + roofs.levels[level]->level + ")";
        add_series(figure, level, format_capacity(bytes) + name, marks_of(bytes, dots, roofs, level));
    }
    return {title, draw(figure, clip)};
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
