#include "ert/method/ceilings/point_summary.hpp"

#include "ert/base/text.hpp"
#include "ert/method/bench/level.hpp"

#include <algorithm>
#include <ctime>
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

PointSummary over(const std::vector<const Measurement*>& rows, const Measurement* first_of_all,
                  const std::optional<std::time_t>& begin)
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
        const std::optional<std::time_t> started = utc_seconds(row->started);
        point.seconds.push_back(begin && started ? std::difftime(*started, *begin) : 0);
    }
    point.best = best == nullptr ? *rows.front() : *best;
    point.best.point = point.best.point.without("round");
    if (rates.empty() && point.rounds > 0) point.fastest = point.typical = rate_of(*best);
    if (rates.empty()) return point;
    point.typical = spread_of(rates).median;
    point.fastest = fastest_of(rates);
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

SustainedRate PointSummary::sustained() const
{
    SustainedRate own;
    if (!samples.empty()) return sustained_rate(samples, tolerance_of(memory_level));
    if (rounds == 0) return own;
    own.rate = Quantity<0, 0, 0>{work_of(best)} / best.seconds;
    own.rounds = 1;  // one does not show what lies between rounds
    return own;
}

RatePoint PointSummary::rates_of(bool disturbed) const
{
    std::vector<double> rates;
    for (const Round& round : samples)
        for (const RateSample& sample : round)
            if (sample.disturbed == disturbed) rates.push_back(sample.rate);
    constexpr std::size_t fewest = 3;
    if (rates.size() < fewest) return {};
    return {best.point.number("working_set"), fastest_of(rates), spread_of(rates).median};
}

std::string id_without_round(const std::string& bench, const std::string& device, const Point& point)
{
    std::string axes;
    for (const auto& [axis, value] : point.values())
        if (axis != "round") axes.append(axes.empty() ? "" : " ").append(axis).append("=").append(value);
    return bench + " " + device + " " + axes;
}

std::vector<PointSummary> summarize_points(std::span<const Measurement> rows,
                                           const std::function<bool(const Measurement&)>& takes)
{
    std::vector<std::vector<const Measurement*>> points;
    std::map<std::string, std::size_t> place;
    for (const Measurement& row : rows) {
        if (takes && !takes(row)) continue;
        const auto [at, is_first] =
            place.try_emplace(id_without_round(row.bench, row.device, row.point), points.size());
        if (is_first) points.emplace_back();
        points[at->second].push_back(&row);
    }
    std::vector<PointSummary> all;
    all.reserve(points.size());
    const auto begin = rows.empty() ? std::optional<std::time_t>() : utc_seconds(rows.front().started);
    for (const auto& rounds : points) all.push_back(over(rounds, rows.data(), begin));
    return all;
}

}  // namespace roof
