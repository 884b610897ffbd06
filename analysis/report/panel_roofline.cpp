// The roofline of each model: layers and phases at the largest batch, steps at all batches.
#include "analysis/report/report.hpp"
#include "analysis/study/steps/answer.hpp"
#include "analysis/study/steps/verdict.hpp"
#include "analysis/table/html.hpp"
#include "analysis/table/quantities.hpp"
#include "analysis/table/rows.hpp"
#include "ert/base/ranges.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace roof::analysis {
namespace {

/// A static picture shows the longest layers; the page's charts show all.
constexpr std::size_t most_marks = 400;

/// For ranks on several devices, the roof of the link between them, and the step at the intensity of its traffic.
void add_link(Figure& figure, const Placement& step)
{
    if (!step.link) return;
    const LevelPlacement& link = *step.link;
    const std::string label = "link " + format_si(link.roof.value, "B/s");
    figure.roofs.push_back({"link",
                            label,
                            label + " between the devices: the fastest all-reduce measured, in bytes that each one's "
                                    "link carries each way. FLOPs are those of all devices.",
                            true,
                            {link.roof.value, link.roof.value, link.roof.value},
                            0,
                            false,
                            true});
    const double x = link.intensity_high.value;
    figure.marks.push_back({.key = "link",
                            .level = "link",
                            .x = {x, x, x},
                            .y = step.rate,
                            .look = "step",
                            .radius = 6,
                            .name = "at the link",
                            .rank = 0,
                            .title = explain(step)});
}

/// The steps, then the layers with the largest headroom, with their numbers.
std::vector<std::vector<std::string>> rows_of_points(const Study& study, const std::vector<Mark>& marks)
{
    constexpr std::size_t most_steps = 24, most_layers = 10;
    std::vector<const Mark*> steps, layers;
    std::map<std::string, Seconds> times;  // by row
    for (const Mark& mark : marks) {
        if (mark.of == nullptr) continue;
        if (mark.of->scope == Scope::step) times[mark.of->row] = mark.of->seconds.median;
        if (mark.rank >= 0 && mark.x.median > 0 && mark.y.median > 0)
            (mark.of->scope == Scope::step ? steps : layers).push_back(&mark);
    }
    std::ranges::stable_sort(layers, {}, &Mark::rank);
    if (steps.size() > most_steps) steps.erase(steps.begin(), steps.end() - most_steps);
    if (layers.size() > most_layers) layers.resize(most_layers);
    steps.insert(steps.end(), layers.begin(), layers.end());
    std::vector<std::vector<std::string>> rows{
        {"", "", "time", "of step", "rate", "FLOP/B", "roof", "reached", "headroom", "bound by, of its time"}};
    for (const Mark* mark : steps) {
        rows.push_back(cells_of(*mark->of, times.at(mark->of->row)));
        rows.back().insert(rows.back().begin(), {mark->rank > 0 ? std::to_string(mark->rank) : "", mark->name});
        const Measurement* const row = find_in(study.results.rows, mark->of->row, &Measurement::id);
        rows.back().push_back(mark->of->scope == Scope::step ? bound_of(study, *row) : "");
    }
    return rows;
}

/// The roofs of one precision, or all if it has none.
Roofs of_precision(Roofs roofs, const std::string& precision)
{
    roofs.mixes.clear();
    if (const Ceiling* const own = roofs.precision(precision)) roofs.compute = {own};
    return roofs;
}

/// Of these steps, under the roofs of the last, and of parts of it. Of several models each has a colour.
Picture picture(const Study& study, const std::vector<const Measurement*>& rows,
                const std::vector<const Placement*>& parts, const std::string& title, const Frame& frame,
                const std::string& key)
{
    const Measurement& last = *rows.back();
    const Roofs roofs =
        of_precision(roofs_of(ceilings_over(study, last), last.device, threads_of(last)), precision_of(last));
    Figure figure = roofs_figure("Roofline of " + title, roofs, frame, &study.calibration.machine);
    add_other_roofs(figure, study, roofs);
    std::vector<const Placement*> all;
    for (const Measurement* row : rows)
        if (const Placement* const step = step_placement(study.placements, *row)) all.push_back(step);
    all.insert(all.end(), parts.begin(), parts.end());
    add_placements(figure, all);
    add_baseline(figure, study);
    std::map<std::size_t, std::string> models;
    for (Mark& mark : figure.marks) {
        const Measurement& row = *find_in(study.results.rows, mark.of->row, &Measurement::id);
        const std::size_t model = number_of_model({&study, 1}, row);
        models[model] = model_of(row);
        mark.title = explain(*mark.of) + remarks_on(*mark.of);
        if (mark.of->scope == Scope::step) mark.name = step_name(row, rows);
        colour(mark.look, model);
        if (parts.empty()) mark.shape = series_entry(model, "").shape;  // the colours are eight
    }
    for (Curve& curve : figure.curves) curve.css = "trajectory " + figure.marks[curve.marks.front()].look.substr(5);
    figure.legend = legend_of(figure.marks);
    const bool is_one = models.size() == 1;
    for (LegendEntry& entry : figure.legend) colour(entry.look, is_one ? models.begin()->first : 6);
    for (const auto& [model, name] : models)
        if (!is_one) figure.legend.push_back(series_entry(model, name));
    std::string answer = is_one ? answer_sentence(study, last) : steps_sentence(study, rows);
    if (const std::size_t end = answer.find(". "); end != std::string::npos) answer[end + 1] = '\n';
    figure.heading = {answer, machine_line(study, last.device, threads_of(last))};
    figure.table = rows_of_points(study, figure.marks);
    if (is_one) {
        if (auto own = own_roof(*step_placement(study.placements, last), roofs))
            figure.roofs.push_back(std::move(*own));
        add_link(figure, *step_placement(study.placements, last));
    }
    return {title, draw(figure, key)};
}

/// The step with its longest phases and layers, and the same step at other batches.
Picture step_picture(const Study& study, const Measurement& row, const Frame& frame, const std::string& key)
{
    const std::string id = row.id();
    std::vector<const Measurement*> rows = measured_steps(study.results.rows);
    std::erase_if(rows, [&](const Measurement* one) {
        return one == &row || id_without(one->id(), "batch") != id_without(id, "batch");
    });
    rows.push_back(&row);
    std::vector<const Placement*> parts;
    for (const Placement& p : study.placements)
        if (p.row == id && p.scope != Scope::step) parts.push_back(&p);
    std::ranges::stable_sort(parts, std::greater{}, [](const Placement* p) { return p->seconds.median; });
    std::string title = step_title(row, study.results.rows);
    if (parts.size() > most_marks) {
        title += fmt::format(" (the longest {} of {} points)", most_marks, parts.size());
        parts.resize(most_marks);
    }
    return picture(study, rows, parts, title, frame, key);
}

/// For a folder without training steps: the roofs of each device.
Content roofs_alone(const Study& study, const Frame& frame, const std::string& key)
{
    Content content;
    for (const std::string& device : devices_of(study.ceilings)) {
        const Roofs roofs = roofs_of(study.ceilings, device);
        const std::string title = device_text(device, roofs.threads);
        Figure figure = roofs_figure("Roofs of " + title, roofs, frame, &study.calibration.machine);
        add_other_roofs(figure, study, roofs);
        content.emplace_back(Picture{title, draw(figure, fmt::format("{}-{}", key, content.size() + 1))});
    }
    return content;
}

}  // namespace

Content roofline_panel(const Study& study, const std::string& key)
{
    const std::optional<Frame> frame = frame_of(study.ceilings);
    if (!frame) return {paragraph("No roofline can be drawn: it needs a bandwidth and a compute ceiling.")};
    if (step_rows(study.results.rows).empty()) return roofs_alone(study, *frame, key);
    Content content;
    const auto has_place = [&](const Measurement* row) {
        const Placement* const step = step_placement(study.placements, *row);
        return step != nullptr && !step->levels.empty();
    };
    std::map<std::tuple<std::string, int, std::string>, std::vector<const Measurement*>> together;
    for (const Measurement* row : measured_steps(study.results.rows))
        if (has_place(row)) together[{row->device, threads_of(*row), precision_of(*row)}].push_back(row);
    for (const auto& [where, rows] : together)
        if (model_of(*rows.front()) != model_of(*rows.back())) {
            const auto& [device, threads, precision] = where;
            const std::string title = fmt::format("all steps in {} on {}", precision, device_text(device, threads));
            content.emplace_back(
                picture(study, rows, {}, title, *frame, fmt::format("{}-{}", key, content.size() + 1)));
        }
    for (const Measurement* row : largest_batches(study.results.rows))
        if (has_place(row) && !study.without_layers.contains(row->id()))
            content.emplace_back(step_picture(study, *row, *frame, fmt::format("{}-{}", key, content.size() + 1)));
    return content;
}

}  // namespace roof::analysis
