#include "analysis/report/report.hpp"

#include "analysis/report/svg.hpp"
#include "analysis/study/points.hpp"
#include "analysis/study/steps/verdict.hpp"
#include "analysis/table/html.hpp"
#include "analysis/table/quantities.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace roof::analysis {

namespace {

using Group = std::vector<const Placement*>;

/// The points that share a device and the thread count of their roofs.
std::vector<Group> groups_of(const Study& study)
{
    std::vector<Group> groups;
    for (const Placement& p : study.placements) {
        const auto group = std::ranges::find_if(groups, [&](const Group& g) {
            return g.front()->device == p.device && g.front()->roof_threads == p.roof_threads;
        });
        if (group == groups.end())
            groups.push_back({&p});
        else
            group->push_back(&p);
    }
    return groups;
}

/// Extends it by whole decades so that it contains the value.
void extend(Extent& extent, double value)
{
    while (extent.high < value) extent.high *= 10;
    extent.low = std::min(extent.low, power_below(10, value));
}

/// The frame of the machine, extended so that it contains every point.
Frame frame_around(Frame frame, const Group& group)
{
    for (const Placement* p : group) {
        extend(frame.rate, p->rate.median.value);
        if (!p->levels.empty()) extend(frame.intensity, p->levels.back().intensity_high.value);
    }
    return frame;
}

std::string picture(const Study& study, const Group& group, std::size_t index)
{
    const std::optional<Frame> machine = frame_of(study.ceilings);
    if (!machine) return paragraph("No roofline can be drawn: it needs a bandwidth and a compute ceiling.");
    const Frame frame = frame_around(*machine, group);
    const Roofs roofs = roofs_of(study.ceilings, group.front()->device, group.front()->roof_threads);
    const std::string title = device_text(group.front()->device, roofs.threads);
    Figure figure = roofs_figure("Points under the roofs of " + title, roofs, frame, &study.calibration.machine);
    for (const Placement* p : group) {
        const double x = p->levels.empty() ? 0 : p->levels.back().intensity_high.value;
        figure.marks.push_back({.key = p->name,
                                .x = {x, x, x},
                                .y = Range::of(p->rate),
                                .look = "forward dot",
                                .radius = 5,
                                .name = p->name,
                                .rank = 0,
                                .title = explain(*p) + remarks_on(*p)});
    }
    return roof::analysis::figure(title, draw(figure, fmt::format("points-{}", index)).str());
}

}  // namespace

std::string points_page(const Study& study)
{
    std::string pictures;
    const std::vector<Group> groups = groups_of(study);
    for (std::size_t i = 0; i < groups.size(); ++i) pictures += picture(study, groups[i], i);
    const std::string lead =
        "FLOPs, bytes and seconds are as given; the roofs are measured. " + calibration_line(study);
    return html_document("points under measured roofs",
                         "<header><h1>Points under measured roofs</h1>\n" + paragraph(lead, "lead") + "</header>\n",
                         "<section>\n" + pictures + html_table(points_table(study)) +
                             text_list("Damaged files", all_damage(study)) + "</section>\n");
}

}  // namespace roof::analysis
