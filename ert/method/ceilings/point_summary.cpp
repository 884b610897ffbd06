#include "ert/method/ceilings/point_summary.hpp"

#include "ert/base/utc.hpp"
#include "ert/method/bench/level.hpp"

#include <algorithm>
#include <ctime>
#include <functional>
#include <map>
#include <optional>

namespace roof {
namespace {

double rate_of(const Measurement& row)
{
    return work_of(row) / row.seconds.median.value;
}

/// The third, or of fewer than five the upper median.
double fastest_of(std::vector<double> rates)
{
    constexpr std::size_t third = 2;
    std::ranges::sort(rates, std::greater{});
    return rates[std::min(third, (rates.size() - 1) / 2)];
}

/// The row's samples without warm-ups.
Round samples_of(const Measurement& row)
{
    const double work = work_of(row);
    Round round;
    for (const Sample& sample : row.samples) {
        const bool is_warm_up = !sample.used && sample.disturbance.empty();
        if (!is_warm_up && sample.seconds.value > 0)
            round.push_back({work / sample.seconds.value, sample.clock.value, !sample.disturbance.empty()});
    }
    for (std::size_t i = (round.size() + 1) / 2; i < round.size(); ++i) round[i].is_late = true;
    return round;
}

double seconds_between(const std::string& first, const std::string& second)
{
    const std::optional<std::time_t> begin = utc_seconds(first);
    const std::optional<std::time_t> end = utc_seconds(second);
    return begin && end ? std::difftime(*end, *begin) : 0;
}

PointSummary over(const std::vector<const Measurement*>& rows, const Measurement* first_of_all)
{
    PointSummary point;
    const Measurement* best = nullptr;
    std::vector<double> rates;
    for (const Measurement* const row : rows) {
        if (row->status != Status::ok || row->seconds.median.value <= 0) continue;
        if (best == nullptr || rate_of(*row) > rate_of(*best)) best = row;
        ++point.rounds;
        Round round = samples_of(*row);
        for (const RateSample& sample : round) rates.push_back(sample.rate);
        if (round.empty()) continue;
        point.samples.push_back(std::move(round));
        point.places.push_back(static_cast<std::size_t>(row - first_of_all));
        point.seconds.push_back(seconds_between(first_of_all->started, row->started));
    }
    point.best = best == nullptr ? *rows.front() : *best;
    point.best.point = point.best.point.without("round");
    // Without samples: the row's own interval. One round does not show what lies between rounds.
    if (point.rounds > 0 && rates.empty()) {
        point.sustained.rate = Quantity<0, 0, 0>{work_of(point.best)} / point.best.seconds;
        point.sustained.rounds = 1;
        point.fastest = point.typical = point.rate();
    }
    if (rates.empty()) return point;
    point.typical = spread_of(rates).median;
    point.fastest = fastest_of(rates);
    point.sustained = sustained_rate(point.samples, tolerance_of(memory_level));
    return point;
}

}  // namespace

double tolerance_of(std::string_view level)
{
    constexpr double near_core = 0.01;
    constexpr double beyond = 0.03;
    return level_traits(level).is_near_core ? near_core : beyond;
}

double work_of(const Measurement& row)
{
    if (row.role == Role::bandwidth) return row.work.compulsory.value;
    if (row.role == Role::latency) return row.work.compulsory.value / bytes_per_access;
    return row.work.flops.value;
}

StateRates PointSummary::rates_of(bool disturbed) const
{
    std::vector<double> rates;
    for (const Round& round : samples)
        for (const RateSample& sample : round)
            if (sample.disturbed == disturbed) rates.push_back(sample.rate);
    constexpr std::size_t fewest = 3;
    return rates.size() < fewest ? StateRates{} : StateRates{fastest_of(rates), spread_of(rates).median};
}

std::string id_without_round(const std::string& bench, const std::string& device, const Point& point)
{
    return bench + " " + device + " " + point.without("round").str();
}

std::vector<PointSummary> summarize_points(std::span<const Measurement> rows)
{
    std::vector<std::vector<const Measurement*>> points;
    std::map<std::string, std::size_t> place;
    for (const Measurement& row : rows) {
        const auto [at, is_first] =
            place.try_emplace(id_without_round(row.bench, row.device, row.point), points.size());
        if (is_first) points.emplace_back();
        points[at->second].push_back(&row);
    }
    std::vector<PointSummary> all;
    all.reserve(points.size());
    for (const auto& rounds : points) all.push_back(over(rounds, rows.data()));
    return all;
}

}  // namespace roof
