// Throughput and the share of the compute roof over the batch: a line for each model, device, precision and source of
// images.
#include "analysis/report/panels.hpp"
#include "analysis/report/svg.hpp"
#include "analysis/study/verdict.hpp"
#include "analysis/table/html.hpp"
#include "analysis/table/quantities.hpp"
#include "analysis/table/rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace roof::analysis {

namespace {

using Series = std::map<std::string, std::vector<SeriesPoint>>;

Series series_of(const Study& study, bool share_of_roof)
{
    std::set<std::string> of_ranks;  // shown in the panel of ranks
    for (const Measurement& row : study.results.rows)
        if (row.ranks() > 1) of_ranks.insert(row.id());
    Series series;
    for (const Placement& p : study.placements) {
        if (of_ranks.contains(p.row)) continue;
        if (p.scope != Scope::step || p.batch <= 0 || (share_of_roof && p.compute_roof.value <= 0)) continue;
        const double work = share_of_roof ? p.flops.value / p.compute_roof.value : static_cast<double>(p.batch);
        const Estimate<Seconds>& t = p.seconds;
        const std::string value =
            share_of_roof ? percent(work / t.median.value) + " of the " + p.precision + " roof"
                          : with_interval(work / t.median.value, work / t.high.value, work / t.low.value, "images/s");
        const std::string fed = p.data == "-" || p.data == "synthetic" ? "" : ", " + p.data;
        series[fmt::format("{} {} {}, {}{}", p.model, p.precision, p.device, threads_text(p.threads), fed)].push_back(
            {static_cast<double>(p.batch), work / t.median.value, work / t.high.value, work / t.low.value,
             fmt::format("{}, batch {}: {}", p.model, p.batch, value)});
    }
    for (auto& [name, samples] : series) std::ranges::stable_sort(samples, {}, &SeriesPoint::x);
    return series;
}

struct Extent {
    double low = INFINITY;
    double high = 0;
};

template <class Value>
Extent extent(const Series& series, Value value)
{
    Extent e;
    for (const auto& [name, samples] : series)
        for (const SeriesPoint& sample : samples) {
            e.low = std::min(e.low, value(sample));
            e.high = std::max(e.high, value(sample));
        }
    return e;
}

double power_at_most(double base, double value)
{
    return std::pow(base, std::floor(std::log(value) / std::log(base)));
}
double power_at_least(double base, double value)
{
    return std::pow(base, std::ceil(std::log(value) / std::log(base) - 1e-9));
}

std::string chart(const Series& series, const std::string& label, const TickText& text, double top)
{
    const Extent batches = extent(series, [](const SeriesPoint& s) { return s.x; });
    const Extent values = extent(series, [](const SeriesPoint& s) { return s.median; });
    if (!(values.high > 0) || !(values.low > 0)) return {};
    const LogPlot plot{{power_at_most(2, batches.low),
                        std::max(power_at_least(2, batches.high), 2 * power_at_most(2, batches.low)), 64, 500},
                       {power_at_most(10, values.low), std::max(top, power_at_least(10, values.high)), 270, 34},
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
    return svg.str();
}

}  // namespace

std::string trajectory_panel(const Study& study, const std::string&)
{
    const Series images = series_of(study, false);
    if (images.empty()) return {};
    std::string html = "<div class=\"pair\">";
    html += chart(
        images, "throughput of the median step (images/s)", [](double v) { return fmt::format("{:g}", v); }, 0);
    html += chart(series_of(study, true), "share of the compute roof", percent, 1);
    return html + "</div>\n";
}

}  // namespace roof::analysis
