// The hierarchical roofline of each model: roofs as bands, layers and phases at the largest batch, steps at all
// batches.
#include "analysis/report/report.hpp"
#include "analysis/report/roof_lines.hpp"
#include "analysis/table/html.hpp"
#include "analysis/table/quantities.hpp"
#include "analysis/table/rows.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace roof::analysis {

namespace {

/// A static picture shows the longest layers; the page's charts show all.
constexpr std::size_t most_points = 400;

Spot spot_of(const LogPlot& plot, const Placement& p)
{
    return plot(p.levels.back().intensity_high.value, p.rate.median.value);
}

void draw_point(Svg& svg, const LogPlot& plot, const Placement& p, Seconds step)
{
    svg.open(fmt::format("point {}", roof::name(*p.phase)), explain(p) + remarks_on(p));
    const std::string_view layer = is_above(p.levels.back(), p.rate.median) ? "hollow" : "dot";
    svg.mark(shape_of(p), spot_of(plot, p), radius_of(p, step), p.scope == Scope::phase ? "phase" : layer, "");
    svg.close();
}

/// The step at each batch, connected by batch; the first and the last are labelled.
void draw_steps(Svg& svg, const LogPlot& plot, std::vector<const Placement*> steps)
{
    std::stable_sort(steps.begin(), steps.end(), [](auto* a, auto* b) { return a->batch < b->batch; });
    std::vector<Spot> path;
    for (const Placement* p : steps) path.push_back(spot_of(plot, *p));
    if (path.size() > 1) svg.polyline(path, "trajectory");
    for (std::size_t i = 0; i < steps.size(); ++i) {
        svg.mark(Shape::ring, path[i], 6, "step", explain(*steps[i]));
        if ((i == 0 || i + 1 == steps.size()) && steps[i]->batch > 0)
            svg.text({path[i].x + 10, path[i].y + (i == 0 ? 16 : -8)}, fmt::format("b{}", steps[i]->batch), "halo");
    }
}

/// For ranks on several devices, draws the roof of the link between them, and the step at the intensity of the link's
/// traffic.
void draw_link(Svg& svg, const LogPlot& plot, const Placement& step)
{
    if (!step.link) return;
    const LevelPlacement& link = *step.link;
    const double from = std::max(plot.x.low, plot.y.low / link.roof.value);
    const double to = std::min(plot.x.high, plot.y.high / link.roof.value);
    const std::string label = "link " + format_si(link.roof.value, "B/s");
    svg.open("roof mix",
             "The link between the devices: the fastest all-reduce measured, in bytes that each one's link "
             "carries each way. FLOPs are those of all devices.");
    svg.line(plot(from, from * link.roof.value), plot(to, to * link.roof.value), "edge");
    const Spot step_at = plot(std::min(link.intensity_high.value, plot.x.high), step.rate.median.value);
    svg.mark(Shape::ring, step_at, 6, "step", explain(step));
    svg.text({step_at.x + 10, step_at.y - 8}, label, "halo");
    svg.close();
}

/// Whether everything but the batch is the same.
bool same_series(const Placement& p, const Measurement& row)
{
    return p.model == model_of(row) && p.device == row.device && p.precision == precision_of(row) &&
           p.threads == threads_of(row) && p.data == data_of(row);
}

constexpr double height = 616;
constexpr double bottom = 560;  ///< of the plot

/// The roofs of one precision, or all if it has none.
Roofs of_precision(Roofs roofs, const std::string& precision)
{
    roofs.mixes.clear();
    if (const Ceiling* const own = roofs.precision(precision)) roofs.compute = {own};
    return roofs;
}

std::optional<Picture> picture(const Study& study, const Measurement& row, const Frame& frame, const std::string& key)
{
    const Roofs roofs = of_precision(roofs_of(study.ceilings, row.device, threads_of(row)), precision_of(row));
    const std::string id = row.id();
    std::vector<const Placement*> steps;
    std::vector<const Placement*> inside;
    const Placement* whole = nullptr;
    for (const Placement& p : study.placements) {
        if (p.levels.empty()) continue;
        if (p.scope == Scope::step && same_series(p, row)) steps.push_back(&p);
        if (p.row != id) continue;
        if (p.scope == Scope::step)
            whole = &p;
        else
            inside.push_back(&p);
    }
    if (whole == nullptr) return std::nullopt;
    std::stable_sort(inside.begin(), inside.end(),
                     [](auto* a, auto* b) { return a->seconds.median > b->seconds.median; });

    std::vector<const Placement*> fitted = steps;
    for (const Placement* p : inside)
        if (p->scope == Scope::layer) fitted.push_back(p);

    std::string title = step_title(row, study.results.rows);
    if (inside.size() > most_points) {
        title += fmt::format(" (the longest {} of {} points)", most_points, inside.size());
        inside.resize(most_points);
    }
    const LogPlot plot = roofline_plot(fitted_frame(roofs, fitted).value_or(frame), bottom);
    Svg svg = roofline_svg(height, "Roofline of " + title, plot, roofs, key);
    for (const Placement* p : inside) draw_point(svg, plot, *p, row.seconds.median);
    name_roofs(svg, plot, roofs);
    draw_steps(svg, plot, steps);
    draw_link(svg, plot, *whole);
    svg.close();
    return Picture{title, std::move(svg)};
}

/// For a folder without training steps: the roofs of each device.
Content roofs_alone(const Study& study, const Frame& frame, const std::string& key)
{
    Content content;
    for (const std::string& device : devices_of(study.ceilings)) {
        const Roofs roofs = roofs_of(study.ceilings, device);
        const std::string title = fmt::format("{}, {}", device, threads_text(roofs.threads));
        const LogPlot plot = roofline_plot(frame, bottom);
        Svg svg = roofline_svg(height, "Roofs of " + title, plot, roofs, fmt::format("{}-{}", key, content.size() + 1));
        name_roofs(svg, plot, roofs);
        svg.close();
        content.emplace_back(Picture{title, std::move(svg)});
    }
    return content;
}

constexpr std::string_view phase_key =
    "<p class=\"legend\"><svg width=\"14\" height=\"14\"><circle class=\"key forward\" cx=\"7\" cy=\"7\" "
    "r=\"5\"/></svg>forward "
    "<svg width=\"14\" height=\"14\"><rect class=\"key backward\" x=\"2.5\" y=\"2.5\" width=\"9\" "
    "height=\"9\"/></svg>backward "
    "<svg width=\"14\" height=\"14\"><polygon class=\"key update\" points=\"7,1 13,12 1,12\"/></svg>update; "
    "outlined: the whole phase "
    "<svg width=\"14\" height=\"14\"><circle class=\"step\" cx=\"7\" cy=\"7\" r=\"5\"/></svg>step, joined over "
    "batches "
    "<svg width=\"14\" height=\"14\"><circle class=\"key-hollow\" cx=\"7\" cy=\"7\" r=\"5\"/></svg>hollow: above the "
    "slanted roof</p>\n";

}  // namespace

Content roofline_panel(const Study& study, const std::string& key)
{
    const std::optional<Frame> frame = frame_of(study.ceilings);
    if (!frame) return {paragraph("No roofline can be drawn: it needs a bandwidth and a compute ceiling.")};
    if (step_rows(study.results.rows).empty()) return roofs_alone(study, *frame, key);
    Content content{std::string(phase_key)};
    for (const Measurement* row : largest_batches(study.results.rows))
        if (auto drawn = picture(study, *row, *frame, fmt::format("{}-{}", key, content.size())))
            content.emplace_back(std::move(*drawn));
    return content.size() > 1 ? content : Content{};
}

}  // namespace roof::analysis
