// Bandwidth against working set: the sweep behind the memory levels.
#include "analysis/report/report.hpp"
#include "analysis/table/quantities.hpp"
#include "analysis/table/rows.hpp"
#include "ert/base/text.hpp"
#include "ert/method/bench/level.hpp"
#include "ert/method/ceilings/point_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace roof::analysis {

namespace {

using Series = std::map<std::string, std::vector<SeriesPoint>>;

/// The operation, the instruction set if it is the same for all points, and unusual conditions.
std::string name_of_series(const Measurement& row)
{
    std::string name = row.point.has("operation") ? row.point.text("operation") : row.bench;
    if (row.point.has("isa") && row.point.text("isa") != "best") name += " " + row.point.text("isa");
    if (row.point.has("placement") && row.point.text("placement") != "cores")
        name += ", " + row.point.text("placement");
    if (row.point.has("pages") && row.point.text("pages") != "huge") name += ", " + row.point.text("pages") + " pages";
    return name;
}

Series series_of(const std::vector<PointSummary>& points, const std::string& device)
{
    const auto of_sweep = [&](const Measurement& row) {
        return row.role == Role::bandwidth && row.status == Status::ok && row.device == device &&
               row.point.has("working_set") && !row.point.has("cpu_node") && row.seconds.median.value > 0 &&
               row.work.compulsory.value > 0;
    };
    int most = 0;
    for (const PointSummary& point : points)
        if (of_sweep(point.best)) most = std::max(most, threads_of(point.best));
    Series series;
    for (const PointSummary& point : points) {
        const Measurement& row = point.best;
        const double working_set = of_sweep(row) && threads_of(row) == most ? row.point.number("working_set") : 0;
        if (!(working_set > 0)) continue;
        const std::string name = name_of_series(row);
        series[name].push_back({working_set, point.sustained.rate.median.value, point.sustained.rate.low.value,
                                point.sustained.rate.high.value,
                                fmt::format("{} over {}: {}", name, format_capacity(working_set),
                                            with_interval(point.sustained.rate, "B/s"))});
    }
    for (auto& [name, samples] : series) std::ranges::sort(samples, {}, &SeriesPoint::x);
    return series;
}

LogPlot plot_of(const Series& series)
{
    Extent bytes, rate;
    for (const auto& [name, samples] : series)
        for (const SeriesPoint& s : samples) {
            bytes.add(s.x);
            rate.add(s.median);
        }
    const double left = power_below(2, bytes.low);
    return {{left, std::max(2 * left, power_above(2, bytes.high)), 88, 1032},
            {power_below(10, rate.low), power_above(10, rate.high * 1.1), 330, 46},
            "working set of all threads (bytes)",
            "bandwidth (B/s)"};
}

/// A solid mark at the measured end of each level, a dashed mark at its reported capacity.
void draw_levels(Svg& svg, const LogPlot& plot, const Ceilings& ceilings, const std::string& device)
{
    for (const MeasuredLevel& level : ceilings.levels) {
        if (level.device != device) continue;
        const double from = std::max(level.from.value, plot.x.low);
        const double to = std::min(level.to.value, plot.x.high);
        const bool is_memory = level.name == memory_level;
        if (!(to > from)) continue;
        const auto mark = [&](const std::string& title, double at, std::string_view css) {
            svg.open("level", title);
            svg.line({plot.x(at), plot.top()}, {plot.x(at), plot.bottom()}, css);
            svg.close();
        };
        if (!is_memory)
            mark(fmt::format("{}: holds working sets up to {}, measured", level.name, format_capacity(level.to.value)),
                 to, "level-mark");
        svg.text({(plot.x(from) + plot.x(to)) / 2, plot.top() + 14}, level.name, "name", Anchor::middle);
        if (plot.x.holds(level.reported.value) && !is_memory)
            mark(fmt::format("{}: {} reported", level.name, format_capacity(level.reported.value)),
                 level.reported.value, "reported-mark");
    }
}

Picture picture(const Series& series, const Ceilings& ceilings, const std::string& device)
{
    const LogPlot plot = plot_of(series);
    std::vector<LegendEntry> legend;
    for (const auto& [name, samples] : series) legend.push_back(series_entry(legend.size(), name));
    constexpr double height = 384;
    const double width = plot.right() - plot.left();
    Svg svg(1060, height + legend_height(legend, width), "Bandwidth against working set of " + device);
    const double factor = plot.x.high / plot.x.low > 65536 ? 16 : 4;
    draw_axes(
        svg, plot, ticks(plot.x.low, plot.x.high, factor), [](double v) { return format_capacity(v); },
        ticks(plot.y.low, plot.y.high, 10), [](double v) { return tick_text(v, "B/s"); });
    draw_levels(svg, plot, ceilings, device);
    draw_legend(svg, legend, {plot.left(), height}, width);
    std::size_t index = 0;
    for (const auto& [name, samples] : series) draw_series(svg, plot, index++, samples, 2.6);
    return {device, std::move(svg)};
}

}  // namespace

Content bandwidth_curve_panel(const Study& study, const std::string&)
{
    std::vector<std::string> devices;
    for (const Measurement& row : study.calibration.rows)
        if (std::find(devices.begin(), devices.end(), row.device) == devices.end()) devices.push_back(row.device);
    Content content;
    for (const std::string& device : devices) {
        const Series series = series_of(summarize_points(study.calibration.rows), device);
        if (!series.empty()) content.emplace_back(picture(series, study.ceilings, device));
    }
    return content;
}

}  // namespace roof::analysis
