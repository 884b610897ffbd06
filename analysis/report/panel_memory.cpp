// Memory held over time.
#include "analysis/report/report.hpp"
#include "analysis/study/tables.hpp"
#include "analysis/table/html.hpp"
#include "ert/base/text.hpp"

#include <algorithm>

namespace roof::analysis {
namespace {

constexpr std::size_t most_spots = 400;

/// Held bytes over time. Of many points each group is drawn by its highest.
Figure figure_of(const MemoryUse& use)
{
    Figure figure{.title = "Bytes held over time", .height = 250};
    const double begin = use.timeline.front().at.value, end = use.timeline.back().at.value;
    figure.x = {"seconds of the recording", {0, std::max(end - begin, 1e-12)}, {}, true};
    figure.y = {use.memory ? std::string(name(*use.memory)) : "memory", {0, std::max(use.peak.value, 1.0)}, {}, true};
    for (int i = 0; i <= 4; ++i) {
        figure.x.ticks.push_back({i * figure.x.frame.high / 4, format_si(i * figure.x.frame.high / 4, "s")});
        figure.y.ticks.push_back({i * figure.y.frame.high / 4, format_si(i * figure.y.frame.high / 4, "B")});
    }
    const std::size_t stride = use.timeline.size() / most_spots + 1;
    std::vector<Mark> marks;
    for (std::size_t i = 0; i < use.timeline.size(); i += stride) {
        double held = 0;
        for (std::size_t k = i; k < std::min(i + stride, use.timeline.size()); ++k)
            held = std::max(held, use.timeline[k].held.value);
        const double at = std::max(use.timeline[i].at.value - begin, 1e-12);  // 0 is unknown
        marks.push_back({.x = {at, at, at}, .y = {held, held, held}, .radius = 1});
    }
    add_series(figure, 0, "held", std::move(marks));
    return figure;
}

}  // namespace

Content memory_panel(const Study& study, const std::string& key)
{
    Content content{html_table(memory_table(study))};
    for (const MemoryUse& use : memory_of(study))
        if (use.timeline.size() > 1) add_picture(content, key, figure_of(use));
    return content;
}

}  // namespace roof::analysis
