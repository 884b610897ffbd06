// The Empirical Roofline curves: the rate of a loop of loads and multiply-adds at each arithmetic intensity and working
// set, under the measured roofs.
#include "analysis/report/report.hpp"
#include "analysis/study/ceilings/ceiling_tables.hpp"
#include "analysis/table/quantities.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>

#include <cmath>

namespace roof::analysis {
namespace {

std::string intensity_text(double value)
{
    return value < 1 ? fmt::format("1/{:g}", std::round(1 / value)) : fmt::format("{:g}", value);
}

std::vector<Mark> marks_of(double bytes, const std::vector<Dot>& dots, const Roofs& roofs, std::size_t level)
{
    std::vector<Mark> marks;
    for (const Dot& dot : dots) {
        const double roof = allowed(roofs, level, dot.intensity);
        const std::string share =
            roof > 0 ? fmt::format(", {} of what the roofs allow", percent(dot.rate.median.value / roof)) : "";
        marks.push_back({.x = {dot.intensity, dot.intensity, dot.intensity},
                         .y = dot.rate,
                         .radius = 3.2,
                         .title = fmt::format("{} FLOP/B over {}: {}{}", intensity_text(dot.intensity),
                                              format_capacity(bytes), with_interval(dot.rate, "FLOP/s"), share)});
    }
    return marks;
}

Figure figure_of(const CurveKey& key, const Curves& curves, const Ceilings& ceilings)
{
    const auto& [device, precision, threads] = key;
    const Roofs roofs = roofs_over(ceilings, key);
    Figure figure = roofs_figure(
        fmt::format("Rate against arithmetic intensity, {} on {}", precision, device_text(device, threads)), roofs,
        frame_of(ceilings).value_or(whole_frame));
    figure.height = 516;
    figure.x.label = "arithmetic intensity (FLOP/B)";
    for (const auto& [bytes, dots] : curves) {
        const std::size_t level = level_of(bytes, roofs, ceilings);
        const std::string name = roofs.levels.empty() ? "" : " (" + roofs.levels[level]->level + ")";
        add_series(figure, level, format_capacity(bytes) + name, marks_of(bytes, dots, roofs, level));
    }
    return figure;
}

}  // namespace

Content ert_curve_panel(const Study& study, const std::string& key)
{
    Content content;
    for (const auto& [what, curves] : curves_of(study)) {
        const auto& [device, precision, threads] = what;
        add_picture(content, key, figure_of(what, curves, study.ceilings), machine_line(study, device, threads));
    }
    return content;
}

}  // namespace roof::analysis
