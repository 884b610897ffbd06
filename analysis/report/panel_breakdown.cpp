// The time of a step, as stacked bars by phase and by kind of layer.
#include "analysis/report/report.hpp"
#include "analysis/study/steps/verdict.hpp"
#include "analysis/table/quantities.hpp"
#include "analysis/table/rows.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace roof::analysis {

namespace {

constexpr double bar_width = 580;
constexpr double strip_height = 15;
constexpr double row_height = 60;

/// The CSS class of a segment.
std::string class_of(const Segment& segment)
{
    return segment.is_phase || segment.name == "update" ? segment.name
           : segment.name == outside_layers || segment.name == exposed_communication ||
                   segment.name == waiting_for_processor
               ? "rest"
               : "kind-" + segment.name;
}

void draw_strip(Svg& svg, const std::vector<Segment>& segments, double step, double top)
{
    double whole = 0;
    for (const Segment& segment : segments) whole += std::max(0.0, segment.seconds);
    double x = 0;
    for (const Segment& segment : segments) {
        if (segment.seconds <= 0) continue;
        const double width = bar_width * segment.seconds / whole;
        svg.rectangle({x, top}, width, strip_height, "segment " + class_of(segment),
                      fmt::format("{}: {}, {} of the step", segment.name, format_duration(segment.seconds),
                                  percent(segment.seconds / step)));
        const std::string share = percent(segment.seconds / step);
        if (width > 40) svg.text({x + width / 2, top + 11.5}, share, "on-bar", Anchor::middle);
        x += width;
    }
}

/// The legend: phases, time outside them, and the kinds that occur.
std::vector<LegendEntry> legend_of(const std::vector<const Measurement*>& rows)
{
    std::vector<std::string> seen;
    for (const Measurement* row : rows)
        for (const Segment& segment : kinds_of(*row)) seen.push_back(segment.name);
    std::vector<LegendEntry> entries;
    for (const std::string phase : {"forward", "backward", "update"})
        entries.push_back({Shape::square, "segment " + phase, phase});
    entries.push_back({Shape::square, "segment rest", std::string(outside_layers)});
    for (const std::string_view kind : kinds_in_order)
        if (kind != "update" && std::ranges::find(seen, kind) != seen.end())
            entries.push_back({Shape::square, "segment kind-" + std::string(kind), std::string(kind)});
    return entries;
}

}  // namespace

Content breakdown_panel(const Study& study, const std::string&)
{
    std::vector<const Measurement*> rows;
    for (const Measurement* row : measured_steps(study.results.rows))
        if (!row->parts.empty() || row->forward.median.value > 0) rows.push_back(row);
    if (rows.empty()) return {};
    const std::vector<LegendEntry> legend = legend_of(rows);
    const double key = legend_height(legend, bar_width);
    Svg svg(bar_width + 80, row_height * static_cast<double>(rows.size()) + key + 14,
            "Shares of the step time by phase and by kind of layer");
    draw_legend(svg, legend, {0, 6}, bar_width);
    double top = key + 12;
    for (const Measurement* row : rows) {
        svg.text({0, top + 13}, step_title(*row, study.results.rows), "name");
        draw_strip(svg, phases_of(*row), row->seconds.median.value, top + 18);
        draw_strip(svg, kinds_of(*row), row->seconds.median.value, top + strip_height + 22);
        svg.text({bar_width + 12, top + 39}, format_duration(row->seconds.median.value), "name");
        top += row_height;
    }
    return {Picture{"", std::move(svg)}};
}

}  // namespace roof::analysis
