// Throughput and the share of attainable over the batch: a line for each series of steps.
#include "analysis/report/report.hpp"
#include "analysis/study/steps/verdict.hpp"
#include "analysis/table/quantities.hpp"
#include "analysis/table/rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace roof::analysis {
namespace {

std::string number_text(double value)
{
    return fmt::format("{:g}", value);
}

/// `work` in the time of a step, by series and batch. A model has the colour that it has in the rooflines.
Figure over_batches(std::span<const Study> studies, const std::string& label, bool is_share)
{
    std::map<std::string, std::pair<std::size_t, std::vector<Mark>>> series;  // their model and marks
    Extent batches, values;
    for (std::size_t i = 0; i < studies.size(); ++i) {
        const std::vector<Measurement>& rows = studies[i].results.rows;
        const std::string study = studies.size() > 1 ? studies[i].results.folder.filename().string() + ": " : "";
        for (const Measurement* row : measured_steps(rows)) {
            const Placement* const p = step_placement(studies[i].placements, *row);
            if (p == nullptr || batch_of(*row) <= 0 || (is_share && p->attainable.value <= 0)) continue;
            const double work = is_share ? p->attainable.value : row->images();
            const Spread rate = work / Spread(row->seconds);
            const double batch = static_cast<double>(batch_of(*row));
            const std::string value =
                is_share ? percent(rate.median) + " of attainable" : with_interval(rate, batch_items({row, 1}) + "/s");
            const std::string data = data_of(*row);
            const std::string name =
                fmt::format("{}{} {} {}{}", study, model_of(*row), precision_of(*row), where_text(*row, rows),
                            data == "-" || data == "synthetic" ? "" : ", " + data);
            series[name].first = number_of_model(studies, *row);
            series[name].second.push_back({.key = fmt::format("{}:{}", i, p - studies[i].placements.data()),
                                           .x = {batch, batch, batch},
                                           .y = rate,
                                           .radius = 4,
                                           .title = fmt::format("{}, batch {}: {}", name, batch_text(*row), value)});
            batches.add(batch);
            values.add(rate.median);
        }
    }
    Figure figure{.title = label + " over the batch", .width = 520, .height = 322};
    if (values.empty()) return figure;
    const bool is_one = batches.low == batches.high;
    const double low = is_one ? batches.low / 2 : power_below(2, batches.low);
    figure.x.frame = {low, is_one ? batches.low * 2 : power_above(2, batches.high)};
    figure.x.label = "batch (per rank under weak scaling)";
    figure.x.ticks =
        ticks(is_one ? batches.low : low, figure.x.frame.high, figure.x.frame.high / low > 512 ? 4 : 2, number_text);
    figure.y.label = label;
    figure.y.linear = is_share;
    figure.y.frame = is_share ? Extent{0, std::max(1.0, values.high)} : Extent{values.low / 1.3, values.high * 1.3};
    if (!is_share) figure.y.ticks = decade_ticks(figure.y.frame.low, figure.y.frame.high, number_text);
    if (is_share)
        for (double at = 0; at <= figure.y.frame.high; at += figure.y.frame.high > 2 ? 1 : 0.25)
            figure.y.ticks.push_back({at, percent(at), 0});
    std::map<std::size_t, std::size_t> used;  // colours
    for (auto& [name, one] : series) {
        auto& [model, marks] = one;
        std::ranges::stable_sort(marks, {}, [](const Mark& mark) { return mark.x.median; });
        add_series(figure, model % 8 + 8 * used[model % 8]++, name, std::move(marks));
    }
    return figure;
}

}  // namespace

std::vector<Figure> trajectory_figures(std::span<const Study> studies)
{
    std::set<std::string> items;
    for (const Study& study : studies) items.insert(batch_items(study.results.rows));
    std::vector<Figure> figures{
        over_batches(studies, (items.size() == 1 ? *items.begin() : "inputs") + "/s of the median step", false),
        over_batches(studies, "share of attainable", true)};
    std::erase_if(figures, [](const Figure& figure) { return figure.marks.empty(); });
    return figures;
}

Content trajectories(std::span<const Study> studies, const std::string& key)
{
    Content content{"<div class=\"pair\">"};
    std::set<std::string> machines;
    for (const Study& study : studies)
        for (const Measurement* row : measured_steps(study.results.rows))
            machines.insert(machine_line(study, row->device, threads_of(*row)));
    for (Figure& figure : trajectory_figures(studies)) {
        figure.heading = {figure.title};
        figure.heading.insert(figure.heading.end(), machines.begin(), machines.end());
        add_picture(content, key, std::move(figure));
    }
    content.emplace_back("</div>\n");
    return content.size() > 2 ? content : Content{};
}

}  // namespace roof::analysis
