// Bandwidth against working set: the sweep behind the memory levels.
#include "analysis/report/report.hpp"
#include "analysis/table/quantities.hpp"
#include "analysis/table/rows.hpp"
#include "ert/base/text.hpp"
#include "ert/method/bench/level.hpp"
#include "ert/method/ceilings/point_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace roof::analysis {
namespace {

using Series = std::map<std::string, std::vector<Mark>>;

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
        series[name].push_back({.x = {working_set, working_set, working_set},
                                .y = point.sustained().rate,
                                .radius = 2.6,
                                .title = fmt::format("{} over {}: {}", name, format_capacity(working_set),
                                                     with_interval(point.sustained().rate, "B/s"))});
    }
    for (auto& [name, samples] : series) std::ranges::sort(samples, {}, [](const Mark& mark) { return mark.x.median; });
    return series;
}

/// A solid mark at the measured end of each level, a dashed mark at its reported capacity.
void add_levels(Figure& figure, const Ceilings& ceilings, const std::string& device)
{
    const Extent& frame = figure.x.frame;
    for (const MeasuredLevel& level : ceilings.levels) {
        if (level.device != device) continue;
        const double from = std::max(level.from.value, frame.low);
        const double to = std::min(level.to.value, frame.high);
        const bool is_memory = level.name == memory_level;
        if (from > to) continue;
        figure.rules.push_back(
            {to, is_memory ? "" : "level-mark",
             fmt::format("{}: holds working sets up to {}, measured", level.name, format_capacity(level.to.value)),
             level.name, std::sqrt(from * to)});
        if (level.reported.value >= frame.low && level.reported.value <= frame.high && !is_memory)
            figure.rules.push_back({level.reported.value, "reported-mark",
                                    fmt::format("{}: {} reported", level.name, format_capacity(level.reported.value)),
                                    "", 0});
    }
}

Figure figure_of(const Series& series, const Ceilings& ceilings, const std::string& device)
{
    Figure figure{.title = "Bandwidth against working set of " + device, .height = 386};
    Extent bytes, rate;
    for (const auto& [name, samples] : series)
        for (const Mark& mark : samples) {
            bytes.add(mark.x.median);
            rate.add(mark.y.median);
        }
    const double left = power_below(2, bytes.low);
    figure.x = {
        "working set of all threads (bytes)", {left, std::max(2 * left, power_above(2, bytes.high))}, {}, false};
    figure.x.ticks = ticks(left, figure.x.frame.high, figure.x.frame.high / left > 65536 ? 16 : 4,
                           [](double v) { return format_capacity(v); });
    figure.y = {"bandwidth (B/s)", {power_below(10, rate.low), power_above(10, rate.high * 1.1)}, {}, false};
    figure.y.ticks =
        decade_ticks(figure.y.frame.low, figure.y.frame.high, [](double v) { return tick_text(v, "B/s"); });
    add_levels(figure, ceilings, device);
    for (const auto& [name, samples] : series) add_series(figure, figure.legend.size(), name, samples);
    return figure;
}

}  // namespace

Content bandwidth_curve_panel(const Study& study, const std::string& key)
{
    std::set<std::string> devices;
    for (const Measurement& row : calibration_rows(study)) devices.insert(row.device);
    const std::vector<PointSummary> points = summarize_points(calibration_rows(study));
    Content content;
    for (const std::string& device : devices) {
        const Series series = series_of(points, device);
        if (series.empty()) continue;
        add_picture(content, key, figure_of(series, study.ceilings, device), machine_line(study, device));
    }
    return content;
}

}  // namespace roof::analysis
