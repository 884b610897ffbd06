// Memory held over time.
#include "analysis/report/report.hpp"
#include "analysis/study/tables.hpp"
#include "analysis/table/html.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace roof::analysis {

namespace {

constexpr double width = 1060, height = 90, left = 120;
constexpr std::size_t most_spots = 800;

/// Held bytes over time, as steps. If there are too many points, each group is drawn by its highest point.
std::vector<Spot> spots_of(const MemoryUse& use)
{
    const double begin = use.timeline.front().at.value;
    const double length = std::max(use.timeline.back().at.value - begin, 1e-12);
    const std::size_t stride = use.timeline.size() / most_spots + 1;
    std::vector<Spot> spots;
    for (std::size_t i = 0; i < use.timeline.size(); i += stride) {
        const std::size_t end = std::min(i + stride, use.timeline.size());
        double held = 0;
        for (std::size_t k = i; k < end; ++k) held = std::max(held, use.timeline[k].held.value);
        const double x = left + (width - left - 10) * (use.timeline[i].at.value - begin) / length;
        const double y = height - 12 - (height - 24) * (use.peak.value > 0 ? held / use.peak.value : 0);
        if (!spots.empty()) spots.push_back({x, spots.back().y});
        spots.push_back({x, y});
    }
    return spots;
}
Picture picture_of(const MemoryUse& use)
{
    const std::string memory = use.memory ? std::string(name(*use.memory)) : "memory";
    Svg svg(width, height, "Bytes held over time");
    svg.text({left - 12, 24}, memory, "name", Anchor::end);
    svg.text({left - 12, 42}, format_si(use.peak.value, "B"), "tick", Anchor::end);
    svg.line({left, height - 12}, {width - 10, height - 12}, "axis");
    svg.polyline(spots_of(use), "curve s0",
                 fmt::format("{} held at once at most, {} at the end", format_si(use.peak.value, "B"),
                             format_si(use.left.value, "B")));
    return {"", std::move(svg)};
}

}  // namespace

Content memory_panel(const Study& study, const std::string&)
{
    Content content{html_table(memory_table(study))};
    for (const MemoryUse& use : memory_of(study))
        if (use.timeline.size() > 1) content.emplace_back(picture_of(use));
    return content;
}

}  // namespace roof::analysis
