#include "ert/method/ceilings/looks.hpp"

#include "ert/method/bench/device_group.hpp"

#include <algorithm>
#include <map>
#include <ranges>
#include <tuple>
#include <utility>

namespace roof {
namespace {

// Set by simulated looks: neighbours that change by looks, rounds or samples, and rounds that differ by 2 to 8%.
constexpr double reach_in_tolerances = 1.5;
constexpr double agreeing_share = 0.45;  ///< share from which two times are enough

constexpr double least_half_width = 0.001;  ///< what other sets, loops and readings would add is in no round

enum class Lies { in, faster, just_below, slower, disturbed, unknown };

/// Where most samples of the round lie, for a window around `centre`. `unknown`: without values.
Lies where_lies(const Round& round, double centre, double reach, bool per_clock)
{
    std::vector<double> values;
    std::size_t inside = 0;
    std::size_t undisturbed = 0;
    std::size_t undisturbed_inside = 0;
    std::size_t faster = 0;
    for (const RateSample& sample : round) {
        if (sample.left_out || (per_clock && sample.clock <= 0)) continue;
        const double value = values.emplace_back(per_clock ? sample.rate / sample.clock : sample.rate);
        const bool is_inside = value >= centre * (1 - reach) && value <= centre * (1 + reach);
        inside += is_inside ? 1 : 0;
        undisturbed += sample.disturbed ? 0 : 1;
        undisturbed_inside += is_inside && !sample.disturbed ? 1 : 0;
        faster += value > centre * (1 + reach) ? 1 : 0;
    }
    if (values.empty()) return Lies::unknown;
    if (inside + faster == 0 && spread_of(values).median >= centre * (1 - 2 * reach)) return Lies::just_below;
    if (inside + faster < 2 || 2 * (inside + faster) < values.size())
        return 2 * undisturbed < values.size() ? Lies::disturbed : Lies::slower;
    if (2 * undisturbed_inside < inside) return Lies::disturbed;
    return inside < 2 ? Lies::faster : Lies::in;
}

/// Whether rounds at the end are slower, and more of them in a row than were ever followed by fast ones. What only the
/// rest between two looks ended does not count, unless it was a whole look. `looks`: where the rounds of each lie, in
/// order of time.
bool is_lost(const std::map<double, std::vector<Lies>>& looks)
{
    std::size_t slower = 0;
    std::size_t longest = 0;
    bool has_rested = false;
    for (const auto& [time, places] : looks) {
        bool has_fast = false;
        for (const Lies place : places) {
            const bool is_fast = place == Lies::in || place == Lies::faster;
            if (is_fast && !has_rested) longest = std::max(longest, slower);
            if (is_fast) slower = 0;
            if (place == Lies::slower) ++slower;
            if (is_fast || place == Lies::slower) has_rested = false;
            has_fast = has_fast || is_fast;
        }
        has_rested = has_fast;
    }
    return slower > longest;
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
    std::map<double, std::vector<Lies>> places;
    for (const Look& look : looks) {
        bool agrees = false;
        for (const Round& round : look.rounds) {
            const Lies place = where_lies(round, centre, reach, per_clock);
            agrees = agrees || place == Lies::in;
            if (look.is_of_now != has_now) continue;
            places[look.time.value].push_back(place);
            if (place != Lies::slower && place != Lies::disturbed) kept.push_back(round);
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
        std::vector<SustainedRate> alone;
        for (const Look* const look : agreeing) alone.push_back(sustained_rate(look->rounds, tolerance, look->clock));
        seen.sustained = *std::ranges::max_element(alone, {}, worth);
    }
    // A lower bound needs no clock.
    if (per_clock && seen.sustained.steadiness == Steadiness::at_least)
        seen.sustained = as_bound(sustained_rate(kept, tolerance));
    // Rounds that differ by themselves are no bound: the fastest of them are lucky.
    if (seen.sustained.steadiness == Steadiness::at_least && whole.differ) seen.sustained = whole;
    if (seen.sustained.steadiness != Steadiness::steady) return seen;
    const int needed = static_cast<double>(kept.size()) >= agreeing_share * static_cast<double>(all.size()) ? 2 : 3;
    if (has_now && is_lost(places)) {
        seen.sustained = as_bound(seen.sustained);
        seen.sustained.steadiness = Steadiness::changed;
    } else if (seen.times == 1 || !has_now)
        seen.sustained.steadiness = Steadiness::seen_once;
    else if (seen.times < needed)
        seen.sustained = as_bound(seen.sustained);
    else {
        Rate& rate = seen.sustained.rate;
        rate.low = std::min(rate.low, rate.median * (1 - least_half_width));
        rate.high = std::max(rate.high, rate.median * (1 + least_half_width));
    }
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
        if (ceiling.steadiness != Steadiness::changed)
            ceiling.change.clear();
        else if (ceiling.change.empty())
            ceiling.change = "changed: the last rounds are slower";
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
