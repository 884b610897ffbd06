#include "ert/method/ceilings/looks.hpp"

#include "ert/method/bench/level.hpp"
#include "ert/method/bench/machine.hpp"
#include "ert/method/ceilings/run_clock.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace roof {
namespace {

// Set by simulated looks: neighbours that change by looks, rounds or samples, and rounds that differ by 2 to 8%.
constexpr double reach_in_tolerances = 1.5;
constexpr double agreeing_share = 0.45;  ///< share from which two times are enough
constexpr double luck_of_rounds = 0.2;   ///< within which three quarters of the rounds lie that differ by themselves
constexpr double usual_drift = 0.003;    ///< of a quiet machine's rates between times, as a logarithm
constexpr double of_sets = 0.1;          ///< tolerances to each side: what other sets, loops and readings would add

enum class Lies { in, faster, just_below, disturbed_in, slower, disturbed, unknown };

double value_of(const RateSample& sample, bool per_clock)
{
    return per_clock ? sample.rate / sample.clock : sample.rate;
}

/// Where most undisturbed samples of the round lie, for a window around `centre`. `unknown`: without values.
Lies where_lies(const Round& round, double centre, double reach, bool per_clock)
{
    std::vector<double> values;
    std::size_t inside = 0, fast = 0;  // fast: inside, or faster
    std::size_t undisturbed = 0, undisturbed_fast = 0;
    for (const RateSample& sample : round) {
        if (sample.left_out || (per_clock && sample.clock <= 0)) continue;
        const double value = values.emplace_back(value_of(sample, per_clock));
        const bool is_fast = value >= centre * (1 - reach);
        inside += is_fast && value <= centre * (1 + reach) ? 1 : 0;
        fast += is_fast ? 1 : 0;
        undisturbed += sample.disturbed ? 0 : 1;
        undisturbed_fast += is_fast && !sample.disturbed ? 1 : 0;
    }
    if (values.empty()) return Lies::unknown;
    if (fast == 0 && spread_of(values).median >= centre * (1 - 2 * reach)) return Lies::just_below;
    const bool is_shown = undisturbed_fast >= 2 && 2 * undisturbed_fast >= undisturbed;
    if (!is_shown && (fast < 2 || 2 * fast < values.size()))
        return 2 * undisturbed < values.size() ? Lies::disturbed : Lies::slower;
    return inside < 2 ? Lies::faster : is_shown ? Lies::in : Lies::disturbed_in;
}

/// Where the rounds of the looks at one time lie.
using Places = std::map<long long, std::vector<Lies>>;

/// 1 where a round is fast, -1 where it is slow; 0 where it shows neither, or the monitor saw why it is slow.
int speed_of(Lies place)
{
    return place < Lies::slower ? 1 : place == Lies::slower ? -1 : 0;
}

/// What the rounds of a level's ceilings show together, by time of the look: how many more are fast than slow in the
/// first round, the second, …. Events and neighbours meet a level, not one loop.
using LevelRounds = std::map<long long, std::vector<int>>;

/// Whether rounds at the end are slower, and more of them in a row than were ever followed by fast ones. What only the
/// rest between two looks ended does not count, unless it was a whole look.
bool is_lost(const Places& looks)
{
    std::size_t slower = 0;
    std::size_t longest = 0;
    bool has_rested = false;
    for (const auto& [time, places] : looks) {
        bool has_fast = false;
        for (const Lies place : places) {
            const bool keeps = place == Lies::in || place == Lies::faster;
            if (keeps && !has_rested) longest = std::max(longest, slower);
            if (keeps) slower = 0;
            if (place == Lies::slower) ++slower;
            if (keeps || place == Lies::slower) has_rested = false;
            has_fast = has_fast || keeps;
        }
        has_rested = has_fast;
    }
    return slower > longest;
}

/// Where most of a level's ceilings lie in each round: slower if two more are slow than fast.
Places places_of(const LevelRounds& level)
{
    Places places;
    for (const auto& [time, votes] : level)
        std::ranges::transform(votes, std::back_inserter(places[time]), [](int vote) {
            return vote < -1 ? Lies::slower : vote > 0 ? Lies::in : Lies::unknown;
        });
    return places;
}

int count_times(std::vector<long long> seconds)
{
    std::ranges::sort(seconds);
    int times = 0;
    long long last = 0;
    for (const long long time : seconds) {
        if (times > 0 && static_cast<double>(time - last) < looks_apart.value) continue;
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

/// The median of rounds that agree on no rate but lie near each other, up to where the fastest samples agree.
std::optional<Spread> median_round(const std::vector<Round>& rounds, double centre, double tolerance)
{
    std::vector<double> rates;
    for (const Round& round : rounds) {
        std::vector<double> undisturbed;
        for (const RateSample& sample : round)
            if (!sample.left_out && !sample.disturbed) undisturbed.push_back(sample.rate);
        if (undisturbed.size() >= 2) rates.push_back(spread_of(undisturbed).median);
    }
    if (std::ssize(rates) < min_rounds) return {};
    std::ranges::sort(rates);
    const Spread spread = spread_of(rates);
    const auto agree =
        std::ranges::count_if(rates, [&](double rate) { return std::abs(rate / spread.median - 1) <= tolerance; });
    const double third = rates[rates.size() - min_rounds];
    constexpr double near = 1 - luck_of_rounds;
    if (10 * agree > 9 * std::ssize(rates) || rates[(rates.size() - 1) / 4] < near * third || third < near * centre)
        return {};
    return Spread{spread.median, spread.low, std::max(spread.high, centre)};
}

/// The rounds of all looks beside the fastest rate on which samples of the present state agree.
struct Compared {
    bool has_now = false;
    Estimate<Hertz> clock{};
    double proven = 0;  ///< the highest low end that one look showed alone
    std::vector<Round> all{};
    SustainedRate whole{};                ///< of `all`
    std::vector<Round> kept{};            ///< those that agree
    std::vector<const Look*> agreeing{};  ///< with such a round, also of another state
    Places places{};                      ///< of the looks that count
};

Compared compared(std::span<const Look> looks, double tolerance)
{
    Compared result{std::ranges::any_of(looks, &Look::is_of_now), clock_over(looks)};
    const auto counts = [&](const Look& look) { return look.is_of_now == result.has_now; };
    for (const Look& look : looks) {
        if (!counts(look)) continue;
        result.all.insert(result.all.end(), look.ceiling.samples.begin(), look.ceiling.samples.end());
        result.proven = std::max(result.proven, look.ceiling.rate.low.value);
    }
    const bool per_clock = result.clock.median.value > 0;
    result.whole = sustained_rate(result.all, tolerance, result.clock);
    if (result.whole.rate.n == 0) return result;
    const double centre = result.whole.centre / (per_clock ? result.clock.median.value : 1);
    const double reach = reach_in_tolerances * tolerance;
    // Interference only slows, and of what other sets got other times tell more.
    const auto tells_nothing = [&](const RateSample& sample) {
        return sample.left_out || (sample.disturbed && value_of(sample, per_clock) < centre * (1 - reach));
    };
    for (const Look& look : looks) {
        std::vector<Lies> lies;
        for (const Round& round : look.ceiling.samples) {
            const Lies place = lies.emplace_back(where_lies(round, centre, reach, per_clock));
            if (counts(look) && (place < Lies::disturbed_in || place == Lies::unknown))
                std::erase_if(result.kept.emplace_back(round), tells_nothing);
        }
        if (std::ranges::find(lies, Lies::in) != lies.end()) result.agreeing.push_back(&look);
        if (!counts(look)) continue;
        std::vector<Lies>& places = result.places[look.time];
        places.insert(places.end(), lies.begin(), lies.end());
    }
    return result;
}

/// Adds the rounds of a ceiling that was seen at two rates to those of its level.
void add_votes(const Places& places, LevelRounds& level)
{
    std::set<int> speeds;
    for (const auto& [time, lie] : places) std::ranges::transform(lie, std::inserter(speeds, speeds.end()), speed_of);
    if (!speeds.contains(1) || !speeds.contains(-1)) return;
    for (const auto& [time, lie] : places) {
        std::vector<int>& votes = level[time];
        votes.resize(std::max(votes.size(), lie.size()));
        for (std::size_t i = 0; i < lie.size(); ++i) votes[i] += speed_of(lie[i]);
    }
}

/// Whether the rounds are slow where their level was, and fast where it was.
bool goes_with(const LevelRounds& level, const Places& places)
{
    int agree = 0;
    for (const auto& [time, lie] : places)
        if (const auto votes = level.find(time); votes != level.end())
            for (std::size_t i = 0; i < std::min(lie.size(), votes->second.size()); ++i)
                agree += votes->second[i] * speed_of(lie[i]);
    return agree >= 0;
}

/// What one look proved stays so, though the samples that were kept of it lack some of the fastest.
SustainedRate at_least(double proven, SustainedRate rate)
{
    const double more = rate.rate.low.value > 0 ? proven / rate.rate.low.value : 0;
    if (rate.steadiness != Steadiness::at_least || more <= 1) return rate;
    for (double* const end :
         {&rate.rate.low.value, &rate.rate.median.value, &rate.per_clock.low.value, &rate.per_clock.median.value})
        *end *= more;
    rate.rate.high.value = std::max(rate.rate.high.value, proven);
    rate.per_clock.high.value = std::max(rate.per_clock.high.value, rate.per_clock.low.value);
    return rate;
}

SustainedRate rate_over(const Compared& all, double tolerance, const LevelRounds& level)
{
    const auto& [has_now, clock, proven, rounds, whole, kept, agreeing, places] = all;
    if (whole.rate.n == 0) return {};
    const bool is_per_clock = clock.median.value > 0;
    // A lower bound needs no clock.
    if (agreeing.empty()) return as_bound(is_per_clock ? sustained_rate(rounds, tolerance) : whole);
    std::vector<long long> times;
    for (const Look* const look : agreeing) times.push_back(look->time);
    const int number_of_times = count_times(times);
    SustainedRate seen = sustained_rate(kept, tolerance, clock);
    if (number_of_times == 1) {  // as the one of these looks that alone says most
        const auto worth = [](const SustainedRate& one) {
            return std::pair(-static_cast<int>(one.steadiness), one.rate.median);
        };
        std::vector<SustainedRate> alone;
        for (const Look* const look : agreeing) {
            const Estimate<Hertz> own = is_per_clock ? clock_of(*look) : clock;
            alone.push_back(sustained_rate(look->ceiling.samples, tolerance, own));
        }
        seen = *std::ranges::max_element(alone, {}, worth);
    }
    if (is_per_clock && seen.steadiness == Steadiness::at_least) seen = as_bound(sustained_rate(kept, tolerance));
    // Rounds that differ by themselves prove no bound: the truth is the median over processes; the fastest are lucky.
    if (seen.steadiness == Steadiness::at_least && !is_per_clock)
        if (const auto spread = median_round(rounds, whole.centre, tolerance)) {
            seen.rate = {{spread->median}, {spread->low}, {spread->high}, whole.rate.n, 0};
            seen.steadiness = Steadiness::rounds_disagree;
            seen.differ = true;
        }
    if (seen.steadiness == Steadiness::at_least && whole.differ) seen = whole;
    const auto [first, last] = std::ranges::minmax(times);
    seen.times = number_of_times;
    seen.over.value = static_cast<double>(last - first);
    if (seen.steadiness != Steadiness::steady) return seen;
    const int needed = static_cast<double>(kept.size()) >= agreeing_share * static_cast<double>(rounds.size()) ? 2 : 3;
    if (has_now && (is_lost(places) || is_lost(places_of(level)))) {
        seen = as_bound(seen);
        seen.steadiness = Steadiness::changed;
    } else if (seen.times == 1 || !has_now)
        seen.steadiness = Steadiness::seen_once;
    else if (seen.times < needed || !goes_with(level, places))
        seen = as_bound(seen);
    else {
        seen.rate.low = seen.rate.low - of_sets * tolerance * seen.rate.median;
        seen.rate.high = seen.rate.high + of_sets * tolerance * seen.rate.median;
    }
    return seen;
}

struct UsualRates {
    std::vector<Ceiling*> ceilings{};
    std::vector<std::vector<double>> all{};
    std::vector<std::vector<double>> others{};  ///< without the times of these ceilings
};

auto key_of(const Ceiling& c)
{
    return std::tie(c.kind, c.device, c.level, c.operation, c.precision, c.isa, c.condition, c.threads);
}

}  // namespace

SustainedRate rate_over_looks(std::span<const Look> looks, double tolerance)
{
    const Compared all = compared(looks, tolerance);
    return at_least(all.proven, rate_over(all, tolerance, {}));
}

std::vector<double> usual_rates(std::span<const Look> looks, std::optional<long long> without)
{
    std::vector<double> usual;
    std::vector<double> rates;
    long long begin = 0;
    for (const Look& look : looks) {
        const bool is_without = without && static_cast<double>(std::abs(look.time - *without)) < looks_apart.value;
        if (!look.is_of_now || is_without) continue;
        if (rates.empty() || static_cast<double>(look.time - begin) >= looks_apart.value) {
            rates.clear();
            begin = look.time;
            usual.emplace_back();
        }
        for (const Round& round : look.ceiling.samples)
            for (const RateSample& sample : round)
                if (!sample.left_out) rates.push_back(sample.rate);
        usual.back() = spread_of(rates).median;
    }
    return usual;
}

std::vector<std::optional<double>> half_widths_between(std::span<const std::vector<double>> usual)
{
    std::vector<double> squares, variances;
    for (const std::vector<double>& rates : usual) {
        double sum = 0;
        for (const double rate : rates) sum += std::log(rate);
        const auto n = static_cast<double>(rates.size());
        double& of_one = squares.emplace_back();
        for (const double rate : rates) of_one += std::pow(std::log(rate) - sum / n, 2);
        if (n > 1) variances.push_back(of_one / (n - 1));
    }
    std::ranges::sort(variances);
    const double of_all = variances.empty() ? 0 : variances[3 * variances.size() / 4];
    std::vector<std::optional<double>> halves(usual.size());
    for (std::size_t i = 0; i < usual.size(); ++i)
        if (const std::size_t n = usual[i].size(); n > 1)
            halves[i] = student_t(n + 1) *
                        std::sqrt((squares[i] + std::max(of_all, usual_drift * usual_drift)) / static_cast<double>(n));
    return halves;
}

bool is_same_ceiling(const Ceiling& a, const Ceiling& b)
{
    return key_of(a) == key_of(b);
}

void judge_by_looks(std::span<const Look> looks, std::span<Ceiling> ceilings, std::optional<long long> own)
{
    std::map<decltype(key_of(ceilings[0])), std::pair<std::vector<Look>, Compared>> all;
    for (const Look& look : looks) all[key_of(look.ceiling)].first.push_back(look);
    const auto level_of = [](const Ceiling& c) { return std::tie(c.device, c.level); };
    std::map<decltype(level_of(ceilings[0])), LevelRounds> levels;
    for (auto& [key, of] : all) {
        const Ceiling& then = of.first.front().ceiling;
        of.second = compared(of.first, tolerance_of(then.level));
        if (!level_traits(then.level).is_near_core) add_votes(of.second.places, levels[level_of(then)]);
    }
    std::map<std::string, UsualRates> devices;
    for (Ceiling& ceiling : ceilings) {
        const auto found = all.find(key_of(ceiling));
        if (found == all.end()) continue;
        const auto& [seen, rounds] = found->second;
        const SustainedRate together =
            at_least(rounds.proven, rate_over(rounds, tolerance_of(ceiling.level), levels[level_of(ceiling)]));
        ceiling.times = together.times;
        ceiling.over = together.over;
        UsualRates& usual = devices[ceiling.device];
        usual.ceilings.push_back(&ceiling);
        usual.all.push_back(usual_rates(seen));
        usual.others.push_back(usual_rates(seen, own));
        // Of a GPU, whose own clock differs by rounds, the rate may be that over all rounds.
        const bool is_own =
            (seen.size() == 1 && ceiling.rate.n > 0) || together.rate.n == 0 ||
            (kind_of_device(ceiling.device) == "gpu" && (together.differ || together.rounds < min_rounds));
        if (!is_own) {
            ceiling.alone = {ceiling.rate, {}, {}, 0, ceiling.steadiness, ceiling.rounds};
            take_rate(together, ceiling);
            if (ceiling.steadiness != Steadiness::changed)
                ceiling.change.clear();
            else if (ceiling.change.empty())
                ceiling.change = "changed: the last rounds are slower";
        } else if (ceiling.steadiness == Steadiness::steady)
            ceiling.steadiness = Steadiness::seen_once;
    }
    for (const auto& [device, usual] : devices) {
        const auto all = half_widths_between(usual.all), others = half_widths_between(usual.others);
        for (std::size_t i = 0; i < usual.ceilings.size(); ++i) {
            usual.ceilings[i]->between = all[i];
            usual.ceilings[i]->between_others = others[i];
        }
    }
}

std::vector<Ceiling> newest_of(std::span<const Look> looks)
{
    std::vector<Ceiling> newest;
    for (auto one = looks.rbegin(); one != looks.rend(); ++one)
        if (std::ranges::none_of(newest, [&](const Ceiling& c) { return is_same_ceiling(c, one->ceiling); }))
            newest.push_back(one->ceiling);
    return newest;
}

}  // namespace roof
