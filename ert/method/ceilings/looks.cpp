#include "ert/method/ceilings/looks.hpp"

#include <algorithm>

namespace roof {
namespace {

// Set by simulated looks: neighbours that change by looks, rounds or samples, and rounds that differ by 2 to 8%.
constexpr double reach_in_tolerances = 1.5;
constexpr double most_rounds = 0.45;  ///< share from which two times are enough
constexpr std::size_t times_slope = 3;

enum class Lies { in, faster, just_below, other, unknown };

/// Where most samples of the round lie, for a window around `centre`. `other`: slower, or disturbed. `unknown`: without values.
Lies where_lies(const Round& round, double centre, double reach, bool per_clock)
{
    std::vector<double> values;
    std::size_t inside = 0;
    std::size_t undisturbed = 0;
    std::size_t faster = 0;
    for (const RateSample& sample : round) {
        if (sample.left_out || (per_clock && sample.clock <= 0)) continue;
        const double value = values.emplace_back(per_clock ? sample.rate / sample.clock : sample.rate);
        const bool is_inside = value >= centre * (1 - reach) && value <= centre * (1 + reach);
        inside += is_inside ? 1 : 0;
        undisturbed += is_inside && !sample.disturbed ? 1 : 0;
        faster += value > centre * (1 + reach) ? 1 : 0;
    }
    if (values.empty()) return Lies::unknown;
    if (inside + faster == 0 && spread_of(values).median >= centre * (1 - 2 * reach)) return Lies::just_below;
    if (inside + faster < 2 || 2 * (inside + faster) < values.size() || 2 * undisturbed < inside) return Lies::other;
    return inside < 2 ? Lies::faster : Lies::in;
}

/// Over all looks: the median, and the range. Empty if none has one.
Estimate<Hertz> clock_of(std::span<const Look> looks)
{
    std::vector<double> medians;
    Estimate<Hertz> clock;
    for (const Look& look : looks) {
        if (look.clock.median.value <= 0) continue;
        clock.low = medians.empty() ? look.clock.low : std::min(clock.low, look.clock.low);
        clock.high = std::max(clock.high, look.clock.high);
        clock.n += look.clock.n;
        medians.push_back(look.clock.median.value);
    }
    if (!medians.empty()) clock.median.value = spread_of(medians).median;
    return clock;
}

int count_times(std::vector<double> seconds)
{
    std::ranges::sort(seconds);
    int times = 0;
    double last = 0;
    for (const double time : seconds) {
        if (times > 0 && time - last < looks_apart.value) continue;
        last = time;
        ++times;
    }
    return times;
}

/// A lower bound has the low end as its value.
SustainedRate as_bound(SustainedRate rate)
{
    rate.rate.median = rate.rate.low;
    rate.per_clock.median = rate.per_clock.low;
    rate.steadiness = Steadiness::at_least;
    return rate;
}

}  // namespace

SeenRate rate_over_looks(std::span<const Look> looks, double tolerance)
{
    const bool has_now = std::ranges::any_of(looks, &Look::is_of_now);
    const Estimate<Hertz> clock = clock_of(looks);
    const bool per_clock = clock.median.value > 0;
    std::vector<Round> all;
    for (const Look& look : looks)
        if (look.is_of_now == has_now) all.insert(all.end(), look.rounds.begin(), look.rounds.end());
    const SustainedRate whole = sustained_rate(all, tolerance, clock);
    if (whole.rate.n == 0) return {};
    const double centre = per_clock ? whole.centre / clock.median.value : whole.centre;
    const double reach = reach_in_tolerances * tolerance;

    std::vector<Round> kept;
    std::vector<double> times;
    std::vector<const Look*> agreeing;
    std::size_t just_below = 0;
    for (const Look& look : looks) {
        bool agrees = false;
        for (const Round& round : look.rounds) {
            const Lies place = where_lies(round, centre, reach, per_clock);
            agrees = agrees || place == Lies::in;
            if (look.is_of_now != has_now) continue;
            just_below += place == Lies::just_below ? 1 : 0;
            if (place != Lies::other && place != Lies::just_below) kept.push_back(round);
        }
        if (!agrees) continue;
        times.push_back(look.time.value);
        agreeing.push_back(&look);
    }
    if (times.empty()) return {as_bound(whole), 0, {}};
    SeenRate seen{sustained_rate(kept, tolerance, clock), count_times(times), {}};
    const auto [first, last] = std::ranges::minmax(times);
    seen.over.value = last - first;
    if (seen.times == 1) {
        // As that look alone; of several the one that says most, then the fastest.
        seen.sustained = {};
        for (const Look* const look : agreeing) {
            const SustainedRate alone = sustained_rate(look->rounds, tolerance, look->clock);
            const auto rank = [](const SustainedRate& one) {
                return std::pair(one.rate.n > 0 ? -static_cast<int>(one.steadiness) : -9, one.rate.median.value);
            };
            if (rank(seen.sustained) < rank(alone)) seen.sustained = alone;
        }
    }
    if (seen.sustained.steadiness != Steadiness::steady) return seen;
    const int needed = static_cast<double>(kept.size()) >= most_rounds * static_cast<double>(all.size()) ? 2 : 3;
    if (seen.times == 1 || !has_now)
        seen.sustained.steadiness = Steadiness::seen_once;
    else if (seen.times < needed || times_slope * just_below > kept.size())
        seen.sustained = as_bound(seen.sustained);
    return seen;
}

}  // namespace roof
