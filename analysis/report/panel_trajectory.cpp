// Throughput and the share of attainable over the batch: a line for each model, device, precision and source of
// images.
#include "analysis/report/report.hpp"
#include "analysis/table/quantities.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace roof::analysis {

namespace {

using Series = std::map<std::string, std::vector<SeriesPoint>>;

Series series_of(const Study& study, bool is_share)
{
    std::set<std::string> of_ranks;  // shown in the panel of ranks
    for (const Measurement& row : study.results.rows)
        if (row.ranks() > 1) of_ranks.insert(row.id());
    Series series;
    for (const Placement& p : study.placements) {
        if (of_ranks.contains(p.row)) continue;
        if (p.scope != Scope::step || p.batch <= 0 || (is_share && p.attainable.value <= 0)) continue;
        const double work = is_share ? p.attainable.value : static_cast<double>(p.batch);
        const Estimate<Seconds>& t = p.seconds;
        const std::string value =
            is_share ? percent(work / t.median.value) + " of attainable"
                     : with_interval(work / t.median.value, work / t.high.value, work / t.low.value, "images/s");
        const std::string fed = p.data == "-" || p.data == "synthetic" ? "" : ", " + p.data;
        series[fmt::format("{} {} {}, {}{}", p.model, p.precision, p.device, threads_text(p.threads), fed)].push_back(
            {static_cast<double>(p.batch), work / t.median.value, work / t.high.value, work / t.low.value,
             fmt::format("{}, batch {}: {}", p.model, p.batch, value)});
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
                       "batch (images)",
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
