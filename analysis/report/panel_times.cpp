// Times against times: for each layer the time under the compute roof alone against the time under the farthest memory level alone,
// which includes work without FLOPs that a roofline cannot show; and the predicted times against the measured ones.
#include "analysis/report/report.hpp"
#include "analysis/table/html.hpp"
#include "analysis/table/quantities.hpp"
#include "analysis/table/rows.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

namespace roof::analysis {
namespace {

/// The same logarithmic axis for both times, up to a whole decade.
void set_axes(Figure& figure, double low, double longest, const char* x, const char* y)
{
    const Extent frame{low, std::max(10 * low, power_above(10, longest))};
    const auto decades = decade_ticks(frame.low, frame.high, [](double seconds) { return tick_text(seconds, "s"); });
    figure.x = {x, frame, decades, false};
    figure.y = {y, frame, decades, false};
}

/// A point on the diagonal matches its prediction; a point above it ran faster. Without marks if no row was measured.
Figure figure_of(const PredictionErrors& errors)
{
    Figure figure{.title = "Predicted over measured step times", .width = 520, .height = 420};
    Extent times;
    for (const PredictionError& e : errors.rows) {
        const double x = e.measured.value, y = e.prediction.predicted.value;
        if (!(x > 0) || !(y > 0)) continue;
        times.add(x);
        times.add(y);
        figure.marks.push_back({.key = e.prediction.row,
                                .x = {x, x, x},
                                .y = {y, y, y},
                                .look = "s0 dot",
                                .title = fmt::format("{}: predicted {}, measured {} ({})", e.prediction.row,
                                                     format_duration(y), format_duration(x), signed_percent(e.error))});
    }
    if (times.empty()) return figure;
    set_axes(figure, power_below(10, times.low), times.high, "measured step time", "predicted step time");
    figure.roofs.push_back({"exact", "", "Here the prediction is exact.", true, {1, 1, 1}, 0, false, true});
    return figure;
}

}  // namespace

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
    set_axes(figure, low, times.high, "seconds the farthest memory level allows", "seconds the compute roof allows");
    figure.roofs.push_back({"balance", "", "Both roofs allow the same time.", true, {1, 1, 1}, 0, true, true});
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
        if (layers.empty()) continue;
        std::string title = step_title(*row, study.results.rows);
        if (layers.size() > most_points) {
            title += fmt::format(" (the longest {} of {} layers)", most_points, layers.size());
            layers.resize(most_points);
        }
        Figure figure = time_figure(title, layers, {{row->id(), row->seconds.median}});
        figure.legend = legend_of(figure.marks);
        colour(figure, number_of_model({&study, 1}, *row));
        content.emplace_back(Picture{title, draw(figure, fmt::format("{}-{}", key, content.size()))});
    }
    return content;
}

Content predictions_panel(const Study& study, const std::string& key)
{
    Content content;
    if (study.predictions.rows.empty()) return content;
    if (const Figure figure = figure_of(study.predictions); !figure.marks.empty())
        content.emplace_back(Picture{
            "Estimate against measurement. On the line the estimate (analytic) is exact; above it the step ran faster.",
            draw(figure, key)});
    content.emplace_back(
        html_table(predictions_table(study.predictions)) +
        paragraph(fmt::format("Error of the predicted time: {}. Fingerprint of the predictions, printed "
                              "before the first row was measured: {}.",
                              summary(study.predictions), study.predictions_fingerprint)));
    return content;
}

}  // namespace roof::analysis
