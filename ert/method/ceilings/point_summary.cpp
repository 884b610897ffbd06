#include "ert/method/ceilings/point_summary.hpp"

#include "ert/base/names.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <random>
#include <string>

namespace roof {
namespace {

constexpr std::array<Named<Steadiness>, 6> names{{
    {Steadiness::steady, "steady"},
    {Steadiness::few_samples, "few samples"},
    {Steadiness::short_of_spec, "short of spec"},
    {Steadiness::unsteady_clock, "unsteady clock"},
    {Steadiness::bimodal, "bimodal"},
    {Steadiness::unsteady, "unsteady"},
}};

constexpr int draws = 400;
constexpr double tail = 0.025;

using Round = std::vector<double>;  ///< rates of its samples

double middle_of(std::vector<double> values)
{
    const std::size_t half = values.size() / 2;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(half);
    std::ranges::nth_element(values, middle);
    if (values.size() % 2 == 1) return *middle;
    return 0.5 * (*middle + *std::max_element(values.begin(), middle));
}

std::vector<double> middles_of(const std::vector<Round>& rounds)
{
    std::vector<double> middles;
    for (const Round& round : rounds) middles.push_back(middle_of(round));
    return middles;
}

/// The rates of a row's samples. A row without samples has only its estimate.
Round rates_of(const Measurement& row)
{
    const double work = work_of(row);
    Round rates;
    for (const Sample& sample : row.samples) {
        if (sample.used && sample.seconds.value > 0) rates.push_back(work / sample.seconds.value);
    }
    if (rates.empty() && row.seconds.median.value > 0) rates.push_back(work / row.seconds.median.value);
    return rates;
}

/// A bootstrap resample: as many rounds, each with as many samples, drawn with replacement.
std::vector<Round> draw_again(const std::vector<Round>& rounds, std::minstd_rand& random)
{
    std::vector<Round> drawn(rounds.size());
    for (Round& again : drawn) {
        const Round& round = rounds[random() % rounds.size()];
        for (std::size_t i = 0; i < round.size(); ++i) again.push_back(round[random() % round.size()]);
    }
    return drawn;
}

double fastest_of(const std::vector<Round>& rounds)
{
    double fastest = 0;
    for (const Round& round : rounds) fastest = std::max(fastest, middle_of(round));
    return fastest;
}

/// The median over the samples of the faster half of the rounds. The fastest round alone may be too fast per clock, if
/// its clock reading was too low.
double faster_half_of(const std::vector<Round>& rounds)
{
    std::vector<Round> sorted = rounds;
    std::ranges::sort(sorted, std::greater{}, middle_of);
    sorted.resize((sorted.size() + 1) / 2);
    Round samples;
    for (const Round& round : sorted) samples.insert(samples.end(), round.begin(), round.end());
    return middle_of(samples);
}

/// Sets the interval: the middle 95% of the statistic over resampled rounds.
template <class Unit>
void widen_by_rounds(Estimate<Unit>& estimate, const std::vector<Round>& rounds,
                     double (*statistic)(const std::vector<Round>&))
{
    std::minstd_rand random(1);  // fixed seed: the same rows give the same result
    std::vector<double> answers;
    for (int i = 0; i < draws; ++i) answers.push_back(statistic(draw_again(rounds, random)));
    std::ranges::sort(answers);
    const auto at = [&](double share) { return answers[static_cast<std::size_t>(share * (draws - 1))]; };
    estimate.low = {std::min(estimate.median.value, at(tail))};
    estimate.high = {std::max(estimate.median.value, at(1 - tail))};
}

/// The index that splits sorted values into the two groups with the least spread within; 0 if the groups are too close.
std::size_t split_of(const std::vector<double>& sorted)
{
    constexpr double least_share = 0.15;
    constexpr double well_apart = 4;      // times the spread within the groups
    constexpr double least_ratio = 1.03;  // of the groups' rates
    const auto least =
        std::max<std::size_t>(3, static_cast<std::size_t>(least_share * static_cast<double>(sorted.size())));
    std::vector<double> sums{0};
    std::vector<double> squares{0};
    for (const double value : sorted) {
        sums.push_back(sums.back() + value);
        squares.push_back(squares.back() + value * value);
    }
    const auto n = sorted.size();
    std::size_t best = 0;
    double best_within = 0;
    for (std::size_t k = least; k + least <= n; ++k) {
        const auto low = static_cast<double>(k);
        const auto high = static_cast<double>(n - k);
        const double within = squares[n] - sums[k] * sums[k] / low - (sums[n] - sums[k]) * (sums[n] - sums[k]) / high;
        if (best != 0 && within >= best_within) continue;
        best = k;
        best_within = within;
    }
    if (best == 0) return 0;
    const double lower = sums[best] / static_cast<double>(best);
    const double upper = (sums[n] - sums[best]) / static_cast<double>(n - best);
    const double spread = std::sqrt(std::max(0.0, best_within) / static_cast<double>(n));
    return upper > lower * least_ratio && upper - lower > well_apart * spread ? best : 0;
}

/// The rates of all samples, sorted.
std::vector<double> all_rates_of(const std::vector<Round>& rounds)
{
    std::vector<double> all;
    for (const Round& round : rounds) all.insert(all.end(), round.begin(), round.end());
    std::ranges::sort(all);
    return all;
}

std::vector<Mode> modes_of(const std::vector<double>& sorted)
{
    if (sorted.empty()) return {};
    const auto split = static_cast<std::ptrdiff_t>(split_of(sorted));
    if (split == 0) return {{middle_of(sorted), 1}};
    const double share = static_cast<double>(split) / static_cast<double>(sorted.size());
    return {{middle_of({sorted.begin(), sorted.begin() + split}), share},
            {middle_of({sorted.begin() + split, sorted.end()}), 1 - share}};
}

/// Empty if no sample was undisturbed or no clock was read.
Round per_clock_of(const Measurement& row)
{
    Round values;
    for (const Sample& sample : row.samples) {
        if (sample.is_undisturbed() && sample.clock.value > 0 && sample.seconds.value > 0)
            values.push_back(work_of(row) / (sample.seconds.value * sample.clock.value));
    }
    return values;
}

/// A round with fewer than three samples is used only if no round has more.
std::vector<Round> rounds_per_clock(const std::vector<const Measurement*>& rows)
{
    constexpr std::size_t enough = 3;
    std::vector<Round> rounds;
    for (const Measurement* const row : rows) rounds.push_back(per_clock_of(*row));
    std::erase_if(rounds, [](const Round& round) { return round.empty(); });
    const auto is_enough = [](const Round& round) { return round.size() >= enough; };
    if (std::ranges::any_of(rounds, is_enough)) std::erase_if(rounds, std::not_fn(is_enough));
    return rounds;
}

Estimate<Quantity<0, 0, 0>> per_clock_over(const std::vector<Round>& rounds)
{
    if (rounds.empty()) return {};
    if (rounds.size() == 1) return Estimate<Quantity<0, 0, 0>>::of(rounds.front());
    Estimate<Quantity<0, 0, 0>> estimate;
    estimate.median = {faster_half_of(rounds)};
    widen_by_rounds(estimate, rounds, faster_half_of);
    for (const Round& round : rounds) estimate.n += static_cast<int>(round.size());
    return estimate;
}

bool is_ok(const Measurement& row)
{
    return row.status == Status::ok && row.seconds.median.value > 0;
}

/// Whether the row has samples and all were disturbed.
bool was_disturbed(const Measurement& row)
{
    return !row.samples.empty() && std::ranges::none_of(row.samples, &Sample::is_undisturbed);
}

/// The median over all rounds and all samples except warm-ups; 0 if there are none.
double typical_rate_of(const std::vector<const Measurement*>& rows)
{
    std::vector<double> rates;
    for (const Measurement* const row : rows) {
        for (const Sample& sample : row->samples) {
            const bool counts = is_ok(*row) && (sample.used || !sample.disturbance.empty());
            if (counts && sample.seconds.value > 0) rates.push_back(work_of(*row) / sample.seconds.value);
        }
    }
    return rates.empty() ? 0 : middle_of(std::move(rates));
}

int disturbances_in(const Measurement& row)
{
    const auto was_seen = [](const Sample& sample) { return !sample.disturbance.empty(); };
    return static_cast<int>(std::ranges::count_if(row.samples, was_seen));
}

PointSummary over(const std::vector<const Measurement*>& rows)
{
    PointSummary point;
    point.typical = typical_rate_of(rows);
    for (const Measurement* const row : rows) point.disturbances += disturbances_in(*row);
    point.disturbed =
        std::ranges::none_of(rows, [](const Measurement* row) { return is_ok(*row) && !was_disturbed(*row); });
    const Measurement* best = rows.front();
    std::vector<Round> rounds;
    std::vector<const Measurement*> counted;
    int discarded = 0;
    double fastest = 0;
    for (const Measurement* row : rows) {
        if (!is_ok(*row) || (was_disturbed(*row) && !point.disturbed)) continue;
        const double rate = work_of(*row) / row->seconds.median.value;
        if (rounds.empty() || rate > fastest) best = row;
        fastest = std::max(fastest, rate);
        rounds.push_back(rates_of(*row));
        counted.push_back(row);
        discarded += row->seconds.discarded;
    }
    point.best = *best;
    point.best.point = best->point.without("round");
    point.rounds = static_cast<int>(rounds.size());
    if (rounds.empty()) return point;

    const double work = work_of(*best);
    point.rate = {{fastest}, {work / best->seconds.high.value}, {work / best->seconds.low.value}, 0, discarded};
    if (rounds.size() > 1) widen_by_rounds(point.rate, rounds, fastest_of);
    for (const Round& round : rounds) point.rate.n += static_cast<int>(round.size());
    if (rounds.size() == 1) point.rate.n = best->seconds.n;
    const std::vector<double> all = all_rates_of(rounds);
    point.modes = modes_of(all);
    if (!all.empty()) {
        point.median_rate = middle_of(all);
        point.fastest = all.back();
    }
    point.round_rates = middles_of(rounds);
    const std::vector<Round> per_clock = rounds_per_clock(counted);
    point.per_clock = per_clock_over(per_clock);
    point.round_rates_per_clock = middles_of(per_clock);
    return point;
}

}  // namespace

std::string_view name(Steadiness steadiness)
{
    return name_in(names, steadiness);
}

Steadiness PointSummary::steadiness(double half_width, double tolerance) const
{
    if (rate.n >= least_samples && half_width <= tolerance) return Steadiness::steady;
    return modes.size() > 1 ? Steadiness::bimodal : Steadiness::unsteady;
}

double work_of(const Measurement& row)
{
    if (row.role == Role::bandwidth) return row.work.compulsory.value;
    if (row.role == Role::latency) return row.work.compulsory.value / bytes_per_access;
    return row.work.flops.value;
}

std::vector<PointSummary> summarize_points(std::span<const Measurement> rows)
{
    std::vector<std::vector<const Measurement*>> points;
    std::map<std::string, std::size_t> place;
    for (const Measurement& row : rows) {
        const std::string id = row.bench + " " + row.device + " " + row.point.without("round").str();
        const auto [at, is_first] = place.try_emplace(id, points.size());
        if (is_first) points.emplace_back();
        points[at->second].push_back(&row);
    }
    std::vector<PointSummary> all;
    all.reserve(points.size());
    for (const auto& rounds : points) all.push_back(over(rounds));
    return all;
}

}  // namespace roof
