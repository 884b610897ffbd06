#include "ert/method/ceilings/looks.hpp"

#include "ert/method/bench/device_group.hpp"

#include <algorithm>
#include <ranges>
#include <tuple>
#include <utility>

namespace roof {
namespace {

// Set by simulated looks: neighbours that change by looks, rounds or samples, and rounds that differ by 2 to 8%.
constexpr double reach_in_tolerances = 1.5;
constexpr double agreeing_share = 0.45;  ///< share from which two times are enough
constexpr std::size_t times_slope = 3;

enum class Lies { in, faster, just_below, other, unknown };

/// Where most samples of the round lie, for a window around `centre`. `other`: slower, or disturbed. `unknown`: without
/// values.
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
    Estimate<Hertz> clock;  // of the newest look that has one
    double newest = 0;
    for (const Look& look : looks) {
        if (look.clock.median.value <= 0 || look.time.value < newest) continue;
        clock = look.clock;
        newest = look.time.value;
    }
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
    if (seen.times == 1) {  // as the one of these looks that alone says most
        const auto worth = [](const SustainedRate& one) {
            return std::pair(-static_cast<int>(one.steadiness), one.rate.median);
        };
        seen.sustained = sustained_rate(agreeing.front()->rounds, tolerance, agreeing.front()->clock);
        for (const Look* const look : agreeing)
            if (const SustainedRate alone = sustained_rate(look->rounds, tolerance, look->clock);
                worth(seen.sustained) < worth(alone))
                seen.sustained = alone;
    }
    // As the last that changed, if most of them did: a rate that does not last until the end of a look is no steady one.
    std::vector<SustainedRate> changed;
    for (const Look* const look : agreeing)
        if (const SustainedRate alone = sustained_rate(look->rounds, tolerance, look->clock);
            alone.steadiness == Steadiness::changed)
            changed.push_back(alone);
    if (2 * changed.size() > agreeing.size()) seen.sustained = changed.back();
    // A lower bound needs no clock.
    if (per_clock && seen.sustained.steadiness == Steadiness::at_least)
        seen.sustained = as_bound(sustained_rate(kept, tolerance));
    if (seen.sustained.steadiness != Steadiness::steady) return seen;
    const int needed = static_cast<double>(kept.size()) >= agreeing_share * static_cast<double>(all.size()) ? 2 : 3;
    if (seen.times == 1 || !has_now)
        seen.sustained.steadiness = Steadiness::seen_once;
    else if (seen.times < needed || times_slope * just_below > kept.size())
        seen.sustained = as_bound(seen.sustained);
    return seen;
}

void take_rate(const SustainedRate& sustained, Ceiling& ceiling)
{
    ceiling.rate = sustained.rate;
    ceiling.steadiness = sustained.steadiness;
    ceiling.rounds = sustained.rounds;
    ceiling.per_clock = sustained.per_clock;
    if (sustained.clock.n > 0) ceiling.clock = sustained.clock;
    const double clock = ceiling.clock.median.value;
    if (ceiling.per_clock.n == 0 && clock > 0)
        ceiling.per_clock = {{ceiling.rate.median.value / clock},
                             {ceiling.rate.low.value / clock},
                             {ceiling.rate.high.value / clock},
                             ceiling.rate.n,
                             0};
    for (auto* const end : {&ceiling.per_clock.median, &ceiling.per_clock.low, &ceiling.per_clock.high})
        end->value /= ceiling.threads;
}

bool is_same_ceiling(const Ceiling& a, const Ceiling& b)
{
    const auto key = [](const Ceiling& c) {
        return std::tie(c.kind, c.device, c.level, c.operation, c.precision, c.isa, c.condition, c.threads);
    };
    return key(a) == key(b);
}

void judge_by_looks(std::span<const SeenCeiling> seen, Ceiling& ceiling)
{
    std::vector<Look> looks;
    Quantity<0, 0, -1> bound{};
    for (const SeenCeiling& one : seen) {
        const Ceiling& then = one.ceiling;
        if (!is_same_ceiling(then, ceiling)) continue;
        if (one.is_of_now) bound = std::max(bound, then.rate.low);
        looks.push_back({{static_cast<double>(one.time)},
                         one.is_of_now,
                         then.samples,
                         then.per_clock_compared ? then.clock : Estimate<Hertz>{}});
    }
    if (looks.empty()) return;
    SeenRate together = rate_over_looks(looks, tolerance_of(ceiling.level));
    // What one look showed stays possible.
    if (Rate& rate = together.sustained.rate; together.sustained.steadiness == Steadiness::at_least && rate.n > 0)
        rate = {std::max(rate.low, bound), std::max(rate.low, bound), std::max(rate.high, bound), rate.n, 0};
    ceiling.times = together.times;
    ceiling.over = together.over;
    // Of a GPU, whose own clock differs by rounds, the rate may be that over all rounds.
    const bool is_own = (looks.size() == 1 && ceiling.rate.n > 0) || together.sustained.rate.n == 0 ||
                        (kind_of_device(ceiling.device) == "gpu" &&
                         (together.sustained.differ || together.sustained.rounds < min_rounds));
    if (!is_own) {
        ceiling.alone = {ceiling.rate, {}, {}, 0, ceiling.steadiness, ceiling.rounds};
        take_rate(together.sustained, ceiling);
        if (ceiling.steadiness != Steadiness::changed) ceiling.change.clear();
    } else if (ceiling.steadiness == Steadiness::steady)
        ceiling.steadiness = Steadiness::seen_once;
}

std::vector<Ceiling> newest_of(std::span<const SeenCeiling> seen)
{
    std::vector<Ceiling> newest;
    for (const SeenCeiling& one : std::views::reverse(seen))
        if (std::ranges::none_of(newest, [&](const Ceiling& c) { return is_same_ceiling(c, one.ceiling); }))
            newest.push_back(one.ceiling);
    return newest;
}

}  // namespace roof
