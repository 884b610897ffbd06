// Kernels with counted work under the roofs of their device. Each kernel has one point for each counted memory level,
// joined by a line.
#include "analysis/report/report.hpp"
#include "analysis/report/roof_lines.hpp"
#include "analysis/study/counted_kernels.hpp"
#include "analysis/study/tables.hpp"
#include "analysis/table/html.hpp"
#include "analysis/table/quantities.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

namespace roof::analysis {

namespace {

constexpr std::size_t most_points = 100;  ///< a picture shows the longest kernels

std::string title_of(const CountedKernel& kernel)
{
    std::string text = fmt::format("{}: {} in {}, {} of the roof of {}", kernel.name,
                                   format_si(kernel.work.total().value, "FLOP"), format_duration(kernel.seconds.value),
                                   percent(kernel.fraction()), kernel.binds.empty() ? "nothing" : kernel.binds);
    for (const LevelPlacement& level : kernel.levels)
        text += fmt::format("; {} {}, {} FLOP/B", level.level, format_si(level.low.value, "B"),
                            plain_number(level.intensity_low.value));
    return text;
}

void draw(Svg& svg, const LogPlot& plot, const CountedKernel& kernel, double longest)
{
    constexpr double largest = 18;
    const double radius = std::max(2.5, largest * std::sqrt(kernel.seconds.value / longest));
    svg.open("point forward", title_of(kernel));
    const auto spot = [&](const LevelPlacement& l) { return plot(l.intensity_low.value, kernel.rate().value); };
    for (std::size_t i = 1; i < kernel.levels.size(); ++i)
        svg.line(spot(kernel.levels[i - 1]), spot(kernel.levels[i]), "interval");
    for (const LevelPlacement& level : kernel.levels)
        svg.mark(&level == &kernel.levels.back() ? Shape::circle : Shape::ring, spot(level),
                 &level == &kernel.levels.back() ? radius : 3, "dot", level.level);
    svg.close();
}

std::optional<Picture> picture(const Study& study, const std::vector<CountedKernel>& kernels, const std::string& device,
                               const std::string& key)
{
    const std::optional<Frame> frame = frame_of(study.ceilings);
    const Roofs roofs = roofs_of(study.ceilings, device);
    if (!frame || roofs.empty()) return std::nullopt;
    const LogPlot plot = roofline_plot(*frame, 460, "arithmetic intensity, counted (FLOP/B)");
    Svg svg = roofline_svg(516, "Counted kernels under the roofs of " + device, plot, roofs, key);
    std::size_t drawn = 0;
    for (const CountedKernel& kernel : kernels)
        if (kernel.device == device && kernel.rate().value > 0 && !kernel.levels.empty() && drawn++ < most_points)
            draw(svg, plot, kernel, kernels.front().seconds.value);
    name_roofs(svg, plot, roofs);
    svg.close();
    if (drawn == 0) return std::nullopt;
    return Picture{device, std::move(svg)};
}

}  // namespace

Content counted_panel(const Study& study, const std::string& key)
{
    std::vector<CountedKernel> kernels = counted_kernels(study);
    std::ranges::stable_sort(kernels, std::greater{}, &CountedKernel::seconds);
    std::set<std::string> devices;
    for (const CountedKernel& kernel : kernels) devices.insert(kernel.device);
    Content content;
    for (const std::string& device : devices)
        if (auto drawn = picture(study, kernels, device, fmt::format("{}-{}", key, content.size())))
            content.emplace_back(std::move(*drawn));
    for (const auto make : {counted_kernels_table, phase_counts_table, step_counters_table})
        content.emplace_back(html_table(make(study)));
    return content;
}

}  // namespace roof::analysis
