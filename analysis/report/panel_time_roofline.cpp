// The time-based roofline: for each layer, the time under the compute roof alone against the time under the farthest
// memory level alone. It includes work without FLOPs, which a roofline cannot show.
#include "analysis/report/panels.hpp"
#include "analysis/report/roof_lines.hpp"
#include "analysis/roofline/describe.hpp"
#include "analysis/roofline/place.hpp"
#include "analysis/table/html.hpp"
#include "analysis/table/quantities.hpp"
#include "analysis/table/rows.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace roof::analysis {

namespace {

constexpr std::size_t most_points = 400;  ///< a static picture shows the longest layers

std::vector<const Placement*> layers_of(const Study& study, const Measurement& row)
{
    std::vector<const Placement*> layers;
    const std::string id = row.id();
    for (const Placement& p : study.placements)
        if (p.scope == Scope::layer && p.row == id && !p.levels.empty()) layers.push_back(&p);
    std::stable_sort(layers.begin(), layers.end(),
                     [](auto* a, auto* b) { return a->seconds.median > b->seconds.median; });
    return layers;
}

/// Both axes have the same whole decades.
LogPlot plot_of(const std::vector<const Placement*>& layers)
{
    double low = INFINITY, high = 0;
    for (const Placement* p : layers)
        for (const double seconds : {needs_of(*p).memory.value, needs_of(*p).compute.value}) {
            if (!(seconds > 0)) continue;
            low = std::min(low, seconds);
            high = std::max(high, seconds);
        }
    if (high == 0) low = high = 1;
    const double from = std::pow(10, std::floor(std::log10(low)));
    const double to = std::max(10 * from, std::pow(10, std::ceil(std::log10(high))));
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

std::string picture(std::vector<const Placement*> layers, const Measurement& row)
{
    const LogPlot plot = plot_of(layers);
    std::string title = title_of(*layers.front());
    if (layers.size() > most_points) {
        title += fmt::format(" (the longest {} of {} layers)", most_points, layers.size());
        layers.resize(most_points);
    }
    Svg svg(1060, 452, "Time under the roofs of " + title);
    const auto text = [](double seconds) { return tick_text(seconds, "s"); };
    draw_axes(svg, plot, ticks(plot.x.low, plot.x.high, 10), text, ticks(plot.y.low, plot.y.high, 10), text);
    svg.line(plot(plot.x.low, plot.y.low), plot(plot.x.high, plot.y.high), "reported-mark");
    for (const Placement* p : layers) draw_layer(svg, plot, *p, row.seconds.median);
    return figure(title, svg.str());
}

}  // namespace

std::string time_roofline_panel(const Study& study, const std::string&)
{
    std::string html;
    for (const Measurement* row : largest_batches(study.results.rows)) {
        const std::vector<const Placement*> layers = layers_of(study, *row);
        if (!layers.empty()) html += picture(layers, *row);
    }
    return html;
}

}  // namespace roof::analysis
