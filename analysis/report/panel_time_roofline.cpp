// The time-based roofline: for each layer, the time under the compute roof alone against the time under the farthest
// memory level alone. It includes work without FLOPs, which a roofline cannot show.
#include "analysis/report/report.hpp"
#include "analysis/report/roof_lines.hpp"
#include "analysis/roofline/place.hpp"
#include "analysis/table/quantities.hpp"
#include "analysis/table/rows.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace roof::analysis {

namespace {

constexpr std::size_t most_points = 400;  ///< a static picture shows the longest layers

/// Both axes have the same whole decades.
LogPlot plot_of(const std::vector<const Placement*>& layers)
{
    Extent times;
    for (const Placement* p : layers) {
        times.add(needs_of(*p).memory.value);
        times.add(needs_of(*p).compute.value);
    }
    if (times.empty()) times.add(1);
    const double from = power_below(10, times.low);
    const double to = std::max(10 * from, power_above(10, times.high));
    return {{from, to, 84, 1032},
            {from, to, 396, 24},
            "seconds the farthest memory level allows",
            "seconds the compute roof allows"};
}

void draw_layer(Svg& svg, const LogPlot& plot, const Placement& p, Seconds step)
{
    const Needs needs = needs_of(p);
    svg.open(fmt::format("point {}", roof::name(*p.phase)),
             fmt::format("{} {}: {} measured; memory allows {}, compute {}", p.name, roof::name(*p.phase),
                         format_duration(p.seconds.median.value), format_duration(needs.memory.value),
                         format_duration(needs.compute.value)));
    svg.mark(shape_of(p), plot(needs.memory.value, needs.compute.value), radius_of(p, step), "dot", "");
    svg.close();
}

Picture picture(std::vector<const Placement*> layers, const Measurement& row, std::string title)
{
    const LogPlot plot = plot_of(layers);
    if (layers.size() > most_points) {
        title += fmt::format(" (the longest {} of {} layers)", most_points, layers.size());
        layers.resize(most_points);
    }
    Svg svg(1060, 452, "Time under the roofs of " + title);
    const auto text = [](double seconds) { return tick_text(seconds, "s"); };
    draw_axes(svg, plot, ticks(plot.x.low, plot.x.high, 10), text, ticks(plot.y.low, plot.y.high, 10), text);
    svg.line(plot(plot.x.low, plot.y.low), plot(plot.x.high, plot.y.high), "reported-mark");
    for (const Placement* p : layers) draw_layer(svg, plot, *p, row.seconds.median);
    return {title, std::move(svg)};
}

}  // namespace

Content time_roofline_panel(const Study& study, const std::string&)
{
    Content content;
    for (const Measurement* row : largest_batches(study.results.rows)) {
        std::vector<const Placement*> layers = layers_of(study.placements, *row);
        std::erase_if(layers, [](const Placement* p) { return p->levels.empty(); });
        std::ranges::stable_sort(layers, std::greater{}, [](const Placement* p) { return p->seconds.median; });
        if (!layers.empty())
            content.emplace_back(picture(std::move(layers), *row, step_title(*row, study.results.rows)));
    }
    return content;
}

}  // namespace roof::analysis
