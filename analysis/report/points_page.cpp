#include "analysis/report/report.hpp"

#include "analysis/report/svg.hpp"
#include "analysis/study/points.hpp"
#include "analysis/study/steps/verdict.hpp"
#include "analysis/table/html.hpp"
#include "analysis/table/quantities.hpp"
#include "ert/base/ranges.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>

namespace roof::analysis {
namespace {

using Group = std::vector<const Placement*>;

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
                                .y = p->rate,
                                .look = "forward dot",
                                .radius = 5,
                                .name = p->name,
                                .rank = 0,
                                .title = explain(*p) + remarks_on(*p)});
    }
    return roof::analysis::figure(title, draw(figure, fmt::format("points-{}", index)).str());
}

// Steps by estimate.

using E = const MachineEstimate&;

/// The roofs that are drawn of a machine: of its memory, where it is `alone` of the caches too, and of one precision.
Ceilings drawn_ceilings(const Target& target, std::string_view precision, bool alone)
{
    Ceilings drawn = target.ceilings;
    const Roofs roofs = roofs_of(drawn, target.device);
    const std::string farthest = roofs.levels.empty() ? "" : roofs.levels.back()->level;
    std::erase_if(drawn.all, [&](const Ceiling& one) {
        return one.device != target.device || (one.kind == Role::compute && one.precision != precision) ||
               (!alone && one.kind == Role::bandwidth && one.level != farthest);
    });
    return drawn;
}

bool has_one_batch(std::span<const MachineEstimate> estimates)
{
    return std::ranges::all_of(estimates, [&](E e) { return e.request.batch == estimates.front().request.batch; });
}

/// Colour is the model, shape the machine; hollow, since nobody measured the point. A line joins the batches, of which
/// the first and the last have a name.
void add_estimates(Figure& figure, std::span<const Target> targets, std::span<const MachineEstimate> estimates)
{
    constexpr std::array shapes{Shape::circle, Shape::square, Shape::triangle, Shape::diamond, Shape::cross};
    std::vector<std::string> models;
    std::map<std::pair<std::string, std::string>, Curve> curves;
    figure.table = {{"", "", "least time", "rate", "FLOP/B", "bound by, of its time", "of the roof above"}};
    for (E e : estimates) {
        add_once(models, e.request.model);
        const Target* const target = find_in(targets, e.machine, &Target::name);
        if (!e.reason.empty() || target == nullptr) continue;
        const auto series = static_cast<std::size_t>(std::ranges::find(models, e.request.model) - models.begin()) % 8;
        const double x = e.placed.levels.back().intensity_high.value, y = (e.placed.flops / e.placed.attainable).value;
        Curve& curve = curves[{e.machine, e.request.model}];
        curve.css = fmt::format("trajectory s{}", series);
        curve.marks.push_back(figure.marks.size());
        const auto machine = static_cast<std::size_t>(target - targets.data());
        figure.marks.push_back(
            {.key = fmt::format("{}", figure.marks.size()),
             .x = {x, x, x},
             .y = {y, y, y},
             .shape = shapes[machine % shapes.size()],
             .look = fmt::format("hollow s{}", series),
             .radius = 6,
             .name = e.request.model + (has_one_batch(estimates) ? "" : fmt::format(" b{}", e.request.batch)),
             .rank = 0,
             .title = bound_sentence(e)});
        figure.table.push_back({"", fmt::format("{} on {}", figure.marks.back().name, e.machine),
                                format_duration(e.placed.attainable.value), format_si(y, "FLOP/s"), plain_number(x, 2),
                                fmt::format("{}, {}", e.placed.binds_compute ? "compute" : "memory",
                                            percent(e.placed.binds_compute ? e.compute_share : 1 - e.compute_share)),
                                percent(e.at_once.attainable / e.placed.attainable)});
    }
    for (auto& [of, curve] : curves) {
        for (std::size_t i = 1; i + 1 < curve.marks.size(); ++i) figure.marks[curve.marks[i]].rank = -1;  // no name
        if (curve.marks.size() > 1) figure.curves.push_back(std::move(curve));
    }
    for (std::size_t i = 0; i < models.size(); ++i)
        figure.legend.push_back({Shape::circle, fmt::format("hollow s{}", i % 8), models[i] + ", by estimate"});
    for (std::size_t i = 0; targets.size() > 1 && i < targets.size(); ++i)
        figure.legend.push_back({shapes[i % shapes.size()], "step s6", "on " + targets[i].name});
}

std::optional<Figure> estimates_figure(std::span<const Target> targets, std::span<const MachineEstimate> estimates,
                                       const Frame& frame)
{
    std::vector<MachineEstimate> here;
    std::ranges::copy_if(estimates, std::back_inserter(here),
                         [&](E e) { return is_in(e.machine, targets, &Target::name); });
    const EstimateRequest& asked = estimates.front().request;
    std::optional<Figure> figure;
    std::vector<std::string> machines;
    for (const Target& target : targets) {
        const Ceilings drawn = drawn_ceilings(target, traits(asked.precision).name, targets.size() == 1);
        const Roofs roofs = roofs_of(drawn, target.device, asked.threads > 0 ? asked.threads : -1);
        Figure own = roofs_figure("Rooflines and steps by estimate", roofs, frame, &target.machine);
        std::erase_if(own.roofs, [](const RoofLine& roof) { return roof.extra; });  // dashed lines are of data sheets
        std::vector<std::string> rates;
        for (RoofLine& roof : own.roofs) {
            rates.push_back(roof.label);
            roof.owner = target.name;
            if (targets.size() > 1) roof.label = target.name + " " + roof.label;
        }
        machines.push_back(
            fmt::format("{}: {}, {}; {}", target.name, target.title,
                        target.known == Known::spec
                            ? "by data sheet (spec), dashed"
                            : fmt::format("{}, {}", name(target.known), device_text(target.device, roofs.threads)),
                        join(rates, "; ")));
        if (!figure)
            figure = std::move(own);
        else
            std::ranges::move(own.roofs, std::back_inserter(figure->roofs));
    }
    if (!figure || figure->roofs.empty()) return std::nullopt;
    figure->heading = {fmt::format("{}{} in {} by estimate (analytic), under the roofs of {}",
                                   asked.passes == Passes::train     ? "Training steps"
                                   : asked.passes == Passes::forward ? "Forward passes"
                                                                     : fmt::format("Steps of {}", name(asked.passes)),
                                   has_one_batch(estimates) ? fmt::format(" at batch {}", asked.batch) : "",
                                   traits(asked.precision).name, how_many(targets.size(), "machine"))};
    std::ranges::copy(machines, std::back_inserter(figure->heading));
    add_estimates(*figure, targets, here);
    return figure;
}

/// The same for all pictures of a page: around the roofs that are drawn of every machine, and the points.
std::optional<Frame> frame_over(std::span<const Target> targets, std::span<const MachineEstimate> estimates)
{
    Frame all;
    for (const Target& target : targets)
        if (const auto one = frame_of(drawn_ceilings(target, traits(estimates.front().request.precision).name, true)))
            for (const auto& [extent, more] : {std::pair{&all.intensity, one->intensity}, {&all.rate, one->rate}}) {
                extent->add(more.low);
                extent->add(more.high);
            }
    if (all.rate.empty()) return std::nullopt;
    for (E e : estimates)
        if (e.reason.empty()) {
            extend(all.intensity, e.placed.levels.back().intensity_high.value);
            extend(all.rate, (e.placed.flops / e.placed.attainable).value);
        }
    return all;
}

}  // namespace

std::vector<Svg> estimates_pictures(std::span<const Target> targets, std::span<const MachineEstimate> estimates)
{
    std::vector<Svg> pictures;
    const std::optional<Frame> frame = frame_over(targets, estimates);
    if (!frame) return pictures;
    std::vector<std::span<const Target>> shown{targets};
    for (std::size_t i = 0; targets.size() > 1 && i < targets.size(); ++i) shown.push_back(targets.subspan(i, 1));
    for (const auto& machines : shown)
        if (const auto figure = estimates_figure(machines, estimates, *frame))
            pictures.push_back(draw(*figure, fmt::format("estimates-{}", pictures.size())));
    return pictures;
}

std::string estimates_page(std::span<const Target> targets, const std::vector<MachineEstimate>& estimates,
                           const std::vector<std::string>& sentences)
{
    std::string main;
    for (const std::string& sentence : sentences) main += paragraph(sentence);
    for (const Svg& picture : estimates_pictures(targets, estimates)) main += figure("", picture.str());
    std::string machines = "Nothing was run: every number follows from shapes and the roofs of the machines.";
    for (const Target& target : targets)
        if (!target.quality.empty()) machines += fmt::format(" {}: {}", target.name, target.quality);
    return html_document("steps by estimate",
                         "<header><h1>Training steps by estimate</h1>\n" + paragraph(machines, "lead") + "</header>\n",
                         "<section>\n" + main + html_table(estimates_table(estimates)) + "</section>\n");
}

std::string points_page(const Study& study)
{
    std::map<std::pair<std::string, int>, Group> groups;  // that share their roofs
    for (const Placement& p : study.placements) groups[{p.device, p.roof_threads}].push_back(&p);
    std::string pictures;
    for (std::size_t number = 0; const auto& [roofs, group] : groups) pictures += picture(study, group, number++);
    const std::string known = study.ceilings.known() == Known::spec ? "of a data sheet" : "measured";
    const std::string lead =
        "FLOPs, bytes and seconds are as given; the roofs are " + known + ". " + calibration_line(study);
    return html_document(
        "points under roofs",
        "<header><h1>Points under the roofs of a machine</h1>\n" + paragraph(lead, "lead") + "</header>\n",
        "<section>\n" + pictures + html_table(points_table(study)) + text_list("Damaged files", all_damage(study)) +
            "</section>\n");
}

}  // namespace roof::analysis
