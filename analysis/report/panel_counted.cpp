// Kernels with counted work under the roofs of their device. Each kernel has one point for each counted memory level,
// joined by a line.
#include "analysis/report/report.hpp"
#include "analysis/study/recorded/counted_kernels.hpp"
#include "analysis/study/tables.hpp"
#include "analysis/table/html.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

namespace roof::analysis {
namespace {

constexpr std::size_t most_points = 100;  ///< a picture shows the longest kernels

/// A mark for each counted level, joined; the farthest one has the area of the time.
void add_kernel(Figure& figure, const CountedKernel& kernel, double longest)
{
    constexpr double largest = 18;
    Curve curve{"trajectory", {}};
    for (const LevelPlacement& level : kernel.levels) {
        const bool is_farthest = &level == &kernel.levels.back();
        const double x = level.intensity_low.value, y = kernel.rate().value;
        curve.marks.push_back(figure.marks.size());
        figure.marks.push_back(
            {.key = kernel.name,
             .level = level.level,
             .x = {x, x, x},
             .y = {y, y, y},
             .look = is_farthest ? "forward dot" : "forward hollow",
             .radius = is_farthest ? std::max(2.5, largest * std::sqrt(kernel.seconds.value / longest)) : 3,
             .title = explain(kernel) + "; here " + level.level});
    }
    figure.curves.push_back(std::move(curve));
}

/// Nothing without roofs or kernels to draw.
void add_device(Content& content, const std::string& key, const Study& study, const std::vector<CountedKernel>& kernels,
                const std::string& device)
{
    const std::optional<Frame> frame = frame_of(study.ceilings);
    const auto of_device = std::ranges::find(kernels, device, &CountedKernel::device);
    const Roofs roofs = roofs_of(study.ceilings, device, of_device->roof_threads);
    if (!frame || roofs.empty()) return;
    Figure figure = roofs_figure(
        fmt::format("{} under the roofs of {}", of_device->is_function() ? "Functions" : "Counted kernels", device),
        roofs, *frame);
    figure.height = 516;
    figure.x.label = "arithmetic intensity, counted (FLOP/B)";
    std::size_t drawn = 0;
    for (const CountedKernel& kernel : kernels)
        if (kernel.device == device && kernel.rate().value > 0 && !kernel.levels.empty() && drawn++ < most_points)
            add_kernel(figure, kernel, kernels.front().seconds.value);
    if (drawn > 0) add_picture(content, key, std::move(figure), machine_line(study, device));
}

}  // namespace

Content counted_panel(const Study& study, const std::string& key)
{
    std::vector<CountedKernel> kernels = counted_kernels(study);
    std::ranges::stable_sort(kernels, std::greater{}, &CountedKernel::seconds);
    std::set<std::string> devices;
    for (const CountedKernel& kernel : kernels) devices.insert(kernel.device);
    Content content;
    for (const std::string& device : devices) add_device(content, key, study, kernels, device);
    for (const auto make : {counted_kernels_table, phase_counts_table, step_counters_table})
        content.emplace_back(html_table(make(study)));
    return content;
}

}  // namespace roof::analysis
