// Which training steps a page shows. Each takes about 7 kB there, and each of its points 600 bytes.
#include "analysis/report/report.hpp"
#include "analysis/table/rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace roof::analysis {
namespace {

constexpr std::size_t most_steps = 400;
/// So many steps are shown in any case.
constexpr std::size_t always = 100;
/// The room of a page in points; that of a step beside its points.
constexpr std::size_t room = 9000, room_of_step = 11;

using Steps = std::vector<const Measurement*>;

/// The steps that differ in their batch alone, by batch. Rows that were not measured are apart.
std::vector<Steps> series_of(std::span<const Study> studies)
{
    std::map<std::pair<const Study*, std::string>, Steps> series;
    for (const Study& study : studies)
        for (const Measurement* row : step_rows(study.results.rows))
            series[{&study, id_without(row->id(), "batch") + " " + std::string(name(row->status))}].push_back(row);
    std::vector<Steps> all;
    for (auto& [key, steps] : series) {
        std::ranges::stable_sort(steps, {}, [](const Measurement* row) { return batch_of(*row); });
        all.push_back(std::move(steps));
    }
    return all;
}

bool is_faster(const Measurement* a, const Measurement* b)
{
    const double left = a->images_per_second_of_median_step(), right = b->images_per_second_of_median_step();
    return left != right ? left > right : a->seconds.median < b->seconds.median;
}

/// About `count` of the steps, at least one: evenly from the first to the last, and the fastest.
void choose(const Steps& steps, std::size_t count, std::set<const Measurement*>& chosen)
{
    count = std::clamp<std::size_t>(count, 2, steps.size() + 1);
    for (std::size_t i = 0; i < count; ++i) chosen.insert(steps[i * (steps.size() - 1) / (count - 1)]);
    chosen.insert(*std::ranges::min_element(steps, is_faster));
}

}  // namespace

void thin_steps(std::span<Study> studies)
{
    const std::vector<Steps> series = series_of(studies);
    std::size_t number = 0, points = 0;
    for (const Steps& steps : series) number += steps.size();
    for (const Study& study : studies) points += study.placements.size();
    if (number <= always) return;
    const std::size_t fitting = number * room / (points + number * room_of_step);
    const std::size_t wanted = std::min(most_steps, fitting);
    if (number <= wanted) return;
    constexpr std::size_t ends = 3;  // the first, the last and the fastest
    std::set<const Measurement*> chosen;
    if (ends * series.size() <= wanted) {
        for (const Steps& steps : series) choose(steps, (wanted - series.size()) * steps.size() / number, chosen);
    } else {
        Steps all;
        for (const Steps& steps : series) all.insert(all.end(), steps.begin(), steps.end());
        choose(all, wanted - 1, chosen);
    }
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
            "fastest, and others evenly between them. `roof report --data DIR` writes tables of all.",
            left.size(), before);
        std::erase_if(study.results.rows,
                      [&](const Measurement& row) { return row.role == Role::step && !left.contains(row.id()); });
        std::erase_if(study.placements, [&](const Placement& p) { return !left.contains(p.row); });
        std::erase_if(study.predictions.rows,
                      [&](const PredictionError& error) { return !left.contains(error.prediction.row); });
    }
}

}  // namespace roof::analysis
