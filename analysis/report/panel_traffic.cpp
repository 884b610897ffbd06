// The bytes that a step moves between neighbouring memory levels, beside what their roofs could move in its time.
#include "analysis/report/report.hpp"
#include "analysis/study/tables.hpp"
#include "analysis/table/rows.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace roof::analysis {

namespace {

constexpr double traffic_width = 1060, traffic_height = 116, box_width = 84, box_height = 44, box_top = 50;

void draw_box(Svg& svg, double x, const std::string& name, const std::string& text)
{
    svg.rectangle({x, box_top}, box_width, box_height, "box");
    svg.text({x + box_width / 2, box_top + 19}, name, "name", Anchor::middle);
    svg.text({x + box_width / 2, box_top + 35}, text, "tick", Anchor::middle);
}

/// The bytes above a bar, whose whole length is what the level could move in the time of the step.
void draw_traffic(Svg& svg, double left, double right, const LevelTraffic& traffic)
{
    const double length = right - left - 16, x = left + 8, y = box_top + box_height / 2 - 5;
    const auto part = [&](double share) { return length * std::clamp(share, 0.0, 1.0); };
    const std::string bytes = bytes_text(traffic.bytes), shares = share_text(traffic);
    svg.text({(left + right) / 2, y - 8}, bytes, "name", Anchor::middle);
    svg.open("traffic", fmt::format("{} to {}: {}, {}; {} of what its roof allows in this time", traffic.level,
                                    traffic.nearer, bytes, roof::name(traffic.bytes.known), shares));
    svg.rectangle({x, y}, length, 10, "of-roof");
    svg.rectangle({x, y}, part(traffic.most()), 10, "may-be");
    svg.rectangle({x, y}, part(traffic.least()), 10, "at-least");
    svg.close();
    svg.text({(left + right) / 2, y + 24}, shares, "tick", Anchor::middle);
    svg.text({(left + right) / 2, y + 38}, roof::name(traffic.bytes.known), "tick", Anchor::middle);
}

}  // namespace

Content traffic_panel(const Study& study, const std::string&)
{
    Content content;
    for (const Measurement* row : largest_batches(study.results.rows)) {
        const std::vector<LevelTraffic> levels = traffic_of(study, *row);
        if (levels.empty()) continue;
        const std::string title = step_title(*row, study.results.rows);
        Svg svg(traffic_width, traffic_height, "Bytes between the memory levels of " + title);
        svg.text({1, 16}, title, "name");
        const double each = (traffic_width - box_width - 2) / static_cast<double>(levels.size());
        const std::string flops = format_si(row->work.flops.value, "FLOP");
        draw_box(svg, 1, levels.front().nearer, flops);
        for (std::size_t i = 0; i < levels.size(); ++i) {
            const double x = 1 + static_cast<double>(i) * each;
            draw_traffic(svg, x + box_width, x + each, levels[i]);
            draw_box(svg, x + each, levels[i].level, format_si(levels[i].roof.value, "B/s"));
        }
        content.emplace_back(Picture{"", std::move(svg)});
    }
    return content;
}

}  // namespace roof::analysis
