// The hypotheses of the plan and the predicted times, beside the measurements.
#include "analysis/report/panels.hpp"
#include "analysis/report/svg.hpp"
#include "analysis/study/tables.hpp"
#include "analysis/table/html.hpp"
#include "analysis/table/quantities.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace roof::analysis {
namespace {

double decade_below(double value)
{
    return std::pow(10.0, std::floor(std::log10(value)));
}

/// Both times on the same scale; nullopt unless a row was measured.
std::optional<LogPlot> plot_of(const PredictionErrors& errors)
{
    double low = INFINITY;
    double high = 0;
    for (const PredictionError& e : errors.rows) {
        if (e.measured.value <= 0 || e.prediction.predicted.value <= 0) continue;
        low = std::min({low, e.measured.value, e.prediction.predicted.value});
        high = std::max({high, e.measured.value, e.prediction.predicted.value});
    }
    if (high <= 0) return std::nullopt;
    low = decade_below(low);
    high = std::max(10 * low, 10 * decade_below(high * (1 - 1e-9)));
    return LogPlot{{low, high, 82, 460}, {low, high, 330, 20}, "measured step time", "predicted step time"};
}

/// A point on the diagonal matches its prediction; a point above it ran faster.
std::string predictions_chart(const PredictionErrors& errors)
{
    const std::optional<LogPlot> plot = plot_of(errors);
    if (!plot) return {};
    const TickText seconds = [](double value) { return tick_text(value, "s"); };
    const std::vector<double> decades = ticks(plot->x.low, plot->x.high, 10);
    Svg svg(480, 386, "Predicted over measured step times");
    draw_axes(svg, *plot, decades, seconds, decades, seconds);
    svg.line((*plot)(plot->x.low, plot->y.low), (*plot)(plot->x.high, plot->y.high), "edge");
    svg.open("series s0");
    for (const PredictionError& e : errors.rows)
        if (e.measured.value > 0 && e.prediction.predicted.value > 0)
            svg.mark(Shape::circle, (*plot)(e.measured.value, e.prediction.predicted.value), 4, "dot",
                     fmt::format("{}: predicted {}, measured {} ({})", e.prediction.row,
                                 format_duration(e.prediction.predicted.value), format_duration(e.measured.value),
                                 signed_percent(e.error)));
    svg.close();
    return "<figure><figcaption>Estimate against measurement</figcaption>\n" + svg.str() + "</figure>\n" +
           paragraph(
               "On the line the estimate (analytic) is exact. Above it the step ran faster than predicted, below it "
               "slower.",
               "legend");
}

}  // namespace

std::string expectations_panel(const Study& study, const std::string&)
{
    std::string html;
    html += html_table(hypotheses_table(study.answers));
    if (study.predictions.rows.empty()) return html;
    html += predictions_chart(study.predictions) + html_table(predictions_table(study.predictions));
    return html + paragraph(fmt::format("Error of the predicted time: median {}, worst {}. Fingerprint of the "
                                        "predictions, printed before the first row was measured: {}.",
                                        percent(study.predictions.median), percent(study.predictions.worst),
                                        study.predictions_fingerprint));
}

}  // namespace roof::analysis
