// The predicted times beside the measurements.
#include "analysis/report/report.hpp"
#include "analysis/table/html.hpp"
#include "analysis/table/quantities.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace roof::analysis {
namespace {

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
    const double low = power_below(10, times.low);
    const Extent frame{low, std::max(10 * low, power_above(10, times.high))};
    const auto decades = decade_ticks(frame.low, frame.high, [](double value) { return tick_text(value, "s"); });
    figure.x = {"measured step time", frame, decades, false};
    figure.y = {"predicted step time", frame, decades, false};
    figure.roofs.push_back({"exact", "", "Here the prediction is exact.", true, {1, 1, 1}, 0, false, true});
    return figure;
}

}  // namespace

Content predictions_panel(const Study& study, const std::string& key)
{
    Content content;
    if (study.predictions.rows.empty()) return content;
    if (const Figure figure = figure_of(study.predictions); !figure.marks.empty())
        content.emplace_back(Picture{
            "Estimate against measurement. On the line the estimate (analytic) is exact; above it the step ran faster.",
            draw(figure, key)});
    content.emplace_back(html_table(predictions_table(study.predictions)) +
                         paragraph(fmt::format("Error of the predicted time: median {}, worst {}. Fingerprint of the "
                                               "predictions, printed before the first row was measured: {}.",
                                               percent(study.predictions.median), percent(study.predictions.worst),
                                               study.predictions_fingerprint)));
    return content;
}

}  // namespace roof::analysis
