// For each layer the time under the compute roof alone against the time under the farthest memory level alone, which
// includes work without FLOPs that a roofline cannot show.
#include "analysis/report/report.hpp"
#include "analysis/table/quantities.hpp"
#include "analysis/table/rows.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace roof::analysis {

Figure time_figure(const std::string& title, std::span<const Placement* const> layers,
                   const std::map<std::string, Seconds>& steps)
{
    Figure figure{.title = "Time under the roofs of " + title, .height = 452};
    Extent times;
    for (const Placement* p : layers) {
        const Needs needs = needs_of(*p);
        times.add(needs.memory.value);
        times.add(needs.compute.value);
    }
    if (times.empty()) times.add(1);
    const double low = power_below(10, times.low) / 10;  // work without FLOPs stands at this edge
    const Extent frame{low, std::max(10 * low, power_above(10, 1.3 * times.high))};
    const auto decades = decade_ticks(frame.low, frame.high, [](double seconds) { return tick_text(seconds, "s"); });
    figure.x = {"seconds the farthest memory level allows", frame, decades};
    figure.y = {"seconds the compute roof allows", frame, decades};
    figure.roofs.push_back({"balance", "compute above, memory below", "Both alike.", true, {1, 1, 1}, 0, true, true});
    const std::map<const Placement*, int> numbers = numbers_of(layers);
    for (const Placement* const layer : layers) {
        const Placement& p = *layer;
        const Needs needs = needs_of(p);
        const auto at = [&](Seconds need) { return std::max(need.value, low); };
        figure.marks.push_back(
            {.of = layer,
             .x = {at(needs.memory), at(needs.memory), at(needs.memory)},
             .y = {at(needs.compute), at(needs.compute), at(needs.compute)},
             .shape = shape_of(p),
             .look = p.phase_name() + " dot s0",
             .radius = radius_of(p, steps.at(p.row)),
             .name = short_name(p),
             .rank = numbers.at(layer),
             .title = fmt::format("{} {}: {}; memory allows {}, compute {}", p.name, p.phase_name(),
                                  format_duration(p.seconds.median.value), format_duration(needs.memory.value),
                                  format_duration(needs.compute.value))});
    }
    return figure;
}

Content time_roofline_panel(const Study& study, const std::string& key)
{
    constexpr std::size_t most_points = 400;  // a static picture shows the longest layers
    Content content;
    for (const Measurement* row : largest_batches(study.results.rows)) {
        std::vector<const Placement*> layers = layers_of(study.placements, *row);
        std::erase_if(layers, [](const Placement* p) { return p->levels.empty() || p->binds.empty(); });
        std::ranges::stable_sort(layers, std::greater{}, [](const Placement* p) { return p->seconds.median; });
        if (layers.empty() || study.without_layers.contains(row->id())) continue;
        std::string title = step_title(*row, study.results.rows);
        if (layers.size() > most_points) {
            title += fmt::format(" (the longest {} of {} layers)", most_points, layers.size());
            layers.resize(most_points);
        }
        Figure figure = time_figure(title, layers, {{row->id(), row->seconds.median}});
        figure.legend = legend_of(figure.marks);
        colour(figure, number_of_model({&study, 1}, *row));
        add_picture(content, key, std::move(figure), machine_line(study, row->device, threads_of(*row)), title);
    }
    return content;
}

}  // namespace roof::analysis
