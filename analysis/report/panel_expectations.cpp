// The hypotheses of the plan and the predicted times, beside the measurements.
#include "analysis/report/report.hpp"
#include "analysis/study/tables.hpp"
#include "analysis/table/html.hpp"
#include "analysis/table/quantities.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace roof::analysis {
namespace {

/// Both times on the same scale; nullopt unless a row was measured.
std::optional<LogPlot> plot_of(const PredictionErrors& errors)
{
    Extent times;
    for (const PredictionError& e : errors.rows) {
        if (e.measured.value <= 0) continue;
        times.add(e.measured.value);
        times.add(e.prediction.predicted.value);
    }
    if (times.empty()) return std::nullopt;
    const double low = power_below(10, times.low);
    const double high = std::max(10 * low, power_above(10, times.high));
    return LogPlot{{low, high, 82, 460}, {low, high, 330, 20}, "measured step time", "predicted step time"};
}

/// A point on the diagonal matches its prediction; a point above it ran faster.
Picture predictions_chart(const PredictionErrors& errors, const LogPlot& plot)
{
    const TickText seconds = [](double value) { return tick_text(value, "s"); };
    const std::vector<double> decades = ticks(plot.x.low, plot.x.high, 10);
    Svg svg(480, 386, "Predicted over measured step times");
    draw_axes(svg, plot, decades, seconds, decades, seconds);
    svg.line(plot(plot.x.low, plot.y.low), plot(plot.x.high, plot.y.high), "edge");
    svg.open("series s0");
    for (const PredictionError& e : errors.rows)
        if (e.measured.value > 0 && e.prediction.predicted.value > 0)
            svg.mark(Shape::circle, plot(e.measured.value, e.prediction.predicted.value), 4, "dot",
                     fmt::format("{}: predicted {}, measured {} ({})", e.prediction.row,
                                 format_duration(e.prediction.predicted.value), format_duration(e.measured.value),
                                 signed_percent(e.error)));
    svg.close();
    return {"Estimate against measurement. On the line the estimate (analytic) is exact; above it the step ran faster.",
            std::move(svg)};
}

}  // namespace

Content expectations_panel(const Study& study, const std::string&)
{
    Content content{html_table(hypotheses_table(study.answers))};
    if (study.predictions.rows.empty()) return content;
    if (const std::optional<LogPlot> plot = plot_of(study.predictions))
        content.emplace_back(predictions_chart(study.predictions, *plot));
    content.emplace_back(html_table(predictions_table(study.predictions)) +
                         paragraph(fmt::format("Error of the predicted time: median {}, worst {}. Fingerprint of the "
                                               "predictions, printed before the first row was measured: {}.",
                                               percent(study.predictions.median), percent(study.predictions.worst),
                                               study.predictions_fingerprint)));
    return content;
}

}  // namespace roof::analysis
