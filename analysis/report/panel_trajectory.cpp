// Throughput and the share of attainable over the batch: a line for each series of steps.
#include "analysis/report/report.hpp"
#include "analysis/study/verdict.hpp"
#include "analysis/table/quantities.hpp"
#include "analysis/table/rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

namespace roof::analysis {

namespace {

using Series = std::map<std::string, std::vector<SeriesPoint>>;

Series series_of(const Study& study, bool is_share)
{
    Series series;
    for (const Measurement* row : step_rows(study.results.rows)) {
        const Placement* const p = step_placement(study.placements, *row);
        if (p == nullptr || batch_of(*row) <= 0 || (is_share && p->attainable.value <= 0)) continue;
        const double work = is_share ? p->attainable.value : row->images();
        const Estimate<Seconds>& t = row->seconds;
        const Range rate{work / t.median.value, work / t.high.value, work / t.low.value};
        const std::string value = is_share ? percent(rate.median) + " of attainable"
                                           : with_interval(rate.median, rate.low, rate.high, "images/s");
        const std::string data = data_of(*row);
        series[fmt::format("{} {} {}{}", model_of(*row), precision_of(*row), where_text(*row, study.results.rows),
                           data == "-" || data == "synthetic" ? "" : ", " + data)]
            .push_back({static_cast<double>(batch_of(*row)), rate.median, rate.low, rate.high,
                        fmt::format("{}, batch {}: {}", model_of(*row), batch_text(*row), value)});
    }
    for (auto& [name, samples] : series) std::ranges::stable_sort(samples, {}, &SeriesPoint::x);
    return series;
}

std::optional<Picture> chart(const Series& series, const std::string& label, const TickText& text, double top)
{
    Extent batches, values;
    for (const auto& [name, samples] : series)
        for (const SeriesPoint& sample : samples) {
            batches.add(sample.x);
            values.add(sample.median);
        }
    if (values.empty()) return std::nullopt;
    const double left = power_below(2, batches.low);
    const LogPlot plot{{left, std::max(power_above(2, batches.high), 2 * left), 64, 500},
                       {power_below(10, values.low), std::max(top, power_above(10, values.high)), 270, 34},
                       "batch (images; per rank under weak scaling)",
                       label};
    std::vector<LegendEntry> legend;
    for (const auto& [name, samples] : series) legend.push_back(series_entry(legend.size(), name));
    constexpr double height = 322;
    const double width = plot.right() - plot.left();
    Svg svg(520, height + legend_height(legend, width), label + " over the batch");
    draw_legend(svg, legend, {plot.left(), height}, width);
    const double factor = plot.x.high / plot.x.low > 512 ? 4 : 2;
    draw_axes(
        svg, plot, ticks(plot.x.low, plot.x.high, factor), [](double v) { return fmt::format("{:g}", v); },
        ticks(plot.y.low, plot.y.high, 10), text);
    std::size_t index = 0;
    for (const auto& [name, samples] : series) draw_series(svg, plot, index++, samples, 3.5);
    return Picture{"", std::move(svg)};
}

}  // namespace

Content trajectory_panel(const Study& study, const std::string&)
{
    const Series images = series_of(study, false);
    if (images.empty()) return {};
    Content content{"<div class=\"pair\">"};
    for (std::optional<Picture> one :
         {chart(
              images, "throughput of the median step (images/s)", [](double v) { return fmt::format("{:g}", v); }, 0),
          chart(series_of(study, true), "share of attainable", percent, 1)})
        if (one) content.emplace_back(std::move(*one));
    content.emplace_back("</div>\n");
    return content;
}

}  // namespace roof::analysis
