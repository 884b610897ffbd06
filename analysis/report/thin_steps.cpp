// Which training steps a page of about 1.2 MB shows, and which with their layers: of 750 bytes each.
#include "analysis/report/report.hpp"
#include "analysis/study/steps/verdict.hpp"
#include "analysis/table/rows.hpp"
#include "ert/base/ranges.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace roof::analysis {
namespace {

constexpr std::size_t most_steps = 100;
/// Layers of a page, and the room of a step and of the pictures of a model in layers.
constexpr std::size_t most_layers = 1000, fewest_layers = 100, of_step = 10, of_pictures = 45;

using Steps = std::vector<const Measurement*>;

bool is_faster(const Measurement* a, const Measurement* b)
{
    const double left = a->images_per_second().median, right = b->images_per_second().median;
    return left != right ? left > right : a->seconds.median < b->seconds.median;
}

}  // namespace

void thin_steps(std::span<Study> studies)
{
    std::map<std::string, Steps>
        series;  // those that differ in their batch alone; rows that were not measured are apart
    Steps all;
    for (const Study& study : studies)
        for (const Measurement* row : step_rows(study.results.rows))
            series[fmt::format("{} {} {}", &study - studies.data(), id_without(row->id(), "batch"), name(row->status))]
                .push_back(row);
    for (auto& [key, steps] : series) {
        std::ranges::stable_sort(steps, {}, [](const Measurement* row) { return batch_of(*row); });
        all.insert(all.end(), steps.begin(), steps.end());
    }
    if (all.size() <= most_steps) return;
    std::set<const Measurement*> chosen;
    for (std::size_t i = 0; i < most_steps; ++i) chosen.insert(all[i * (all.size() - 1) / (most_steps - 1)]);
    if (series.size() < most_steps / 3)
        for (const auto& [key, steps] : series)
            chosen.insert({steps.front(), steps.back(), *std::ranges::min_element(steps, is_faster)});
    for (Study& study : studies) {
        std::set<std::string> left;
        std::size_t before = 0;
        for (const Measurement* row : step_rows(study.results.rows)) {
            ++before;
            if (chosen.contains(row)) left.insert(row->id());
        }
        if (left.size() == before) continue;
        study.left_out = fmt::format(
            "{} of {} training steps are shown: of those that differ in their batch alone the first, the last and the "
            "fastest, and others evenly. `roof report --data DIR` writes tables of all. ",
            left.size(), before);
        std::erase_if(study.results.rows,
                      [&](const Measurement& row) { return row.role == Role::step && !left.contains(row.id()); });
        std::erase_if(study.placements, [&](const Placement& p) { return !left.contains(p.row); });
        std::erase_if(study.predictions.rows,
                      [&](const PredictionError& error) { return !left.contains(error.prediction.row); });
    }
}

void thin_layers(std::span<Study> studies)
{
    std::size_t taken = fewest_layers;
    for (const Study& study : studies)
        taken += of_step * measured_steps(study.results.rows).size() +
                 of_pictures * largest_batches(study.results.rows).size();
    const std::size_t all = most_layers - std::min(most_layers, taken) + fewest_layers;
    std::size_t room = all;
    for (const bool of_largest : {true, false})
        for (Study& study : studies) {
            const Steps largest = largest_batches(study.results.rows);
            for (const Measurement* row : measured_steps(study.results.rows)) {
                if (is_in(row, largest) != of_largest) continue;
                const std::size_t layers = layers_of(study.placements, *row).size();
                if (layers <= room || room == all)
                    room -= std::min(room, layers);
                else
                    study.without_layers.insert(row->id());
            }
        }
    for (Study& study : studies)
        if (const std::size_t number = study.without_layers.size(); number > 0)
            study.left_out += fmt::format("{} shown here without layers; `roof report --data DIR` writes them.",
                                          number == 1 ? "A step is" : fmt::format("{} steps are", number));
}

}  // namespace roof::analysis
