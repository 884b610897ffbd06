#include "tests/zoo/judge.hpp"

#include "ert/method/bench/level.hpp"
#include "tests/zoo/benches.hpp"
#include "tests/zoo/tally.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

namespace roof::zoo {
namespace {

std::vector<float> kept_in(const World& world, const std::string& key)
{
    const auto found = world.all_kept().find(key);
    return found == world.all_kept().end() ? std::vector<float>{} : found->second;
}

/// The level of the machine that a ceiling stands for: by its name where all levels were found, else the one that
/// serves most lines of the set at which it was measured. So a level that was not found counts once, as a level, and
/// not again for each ceiling.
std::size_t level_of(const Model& model, const Ceiling& ceiling, bool are_right)
{
    const std::size_t memory = model.levels() - 1;
    if (ceiling.level == memory_level && (are_right || ceiling.working_set.value <= 0)) return memory;
    if (are_right) return std::min(static_cast<std::size_t>(level_traits(ceiling.level).number) - 1, memory);
    const std::vector<double> served = model.served(ceiling.working_set.value, ceiling.threads);
    return static_cast<std::size_t>(std::ranges::max_element(served) - served.begin());
}

struct Place {
    Group group = Group::near;
    Truth truth;
    bool is_seen = false;
};

/// Whether three launches got the undisturbed rate.
bool is_seen(const std::vector<float>& kept)
{
    constexpr float undisturbed = 0.995F;
    return std::ranges::count_if(kept, [](float share) { return share >= undisturbed; }) >= 3;
}

/// Where a ceiling belongs, and its truth; none if the zoo has no truth for it, as for the exchange of lines between
/// cores.
std::optional<Place> place_of(const Ceiling& ceiling, const World& world, bool are_levels_right)
{
    const Model& model = world.model();
    const bool has_small_pages = ceiling.condition == "small pages";
    const auto in = [&](Group group, double rate, bool follows_clock, const std::string& key, const Parts& parts) {
        const std::vector<float> kept = kept_in(world, key);
        Place place{group,
                    truth_of(rate, follows_clock ? world.mean_clock() : 1, follows_clock ? world.fastest_clock() : 1,
                             kept, world.look() + 1),
                    is_seen(kept)};
        const bool is_waiting = group == Group::latency && model.kind->change == Change::bucket;
        if (model.kind->change == Change::none || is_waiting) return place;
        place.truth.after = rate * world.lasting(parts, follows_clock);
        place.truth.fastest = std::max(place.truth.fastest, place.truth.after);
        place.truth.alone *= world.lasting(parts, false);
        place.is_seen = false;  // what the bounds are held against is not one rate
        return place;
    };
    if (ceiling.kind == Role::compute)
        return in(
            Group::arithmetic,
            model.arithmetic(ceiling.operation, ceiling.isa, ceiling.precision, ceiling.threads, ceiling.packs_cores),
            true,
            key_of_arithmetic(ceiling.operation, ceiling.isa, ceiling.precision, ceiling.threads, ceiling.packs_cores),
            {1, 0, 0});
    if (!ceiling.condition.empty() && !has_small_pages) return std::nullopt;
    if (level_traits(ceiling.level).kind == LevelKind::path) return std::nullopt;
    const std::size_t level = level_of(model, ceiling, are_levels_right);
    if (ceiling.kind == Role::latency)
        return in(Group::latency, model.loads_waiting(level), model.follows_clock(level),
                  key_of_latency(has_small_pages, level), model.chase_from(level));
    const Parts byte = model.byte_from(level, ceiling.operation, ceiling.threads);
    double rate = model.bandwidth(level, ceiling.operation, ceiling.threads);
    if (has_small_pages && (byte.shared > 0 || byte.memory > 0)) rate *= model.small_pages;
    const bool follows = byte.memory == 0 && model.follows_clock(level);
    return in(byte.shared > 0 || byte.memory > 0 ? Group::far : Group::near, rate, follows,
              key_of_bandwidth(ceiling.operation, ceiling.threads, has_small_pages, level), byte);
}

JudgedCeiling judged(const Ceiling& ceiling, const Place& place, bool has_event)
{
    JudgedCeiling result;
    result.name = fmt::format("{} {} {}{}{}, {} thread{}", ceiling.level, ceiling.operation, ceiling.precision,
                              ceiling.isa.empty() ? "" : " " + ceiling.isa,
                              ceiling.condition.empty() ? "" : " " + ceiling.condition, ceiling.threads,
                              ceiling.threads == 1 ? "" : "s");
    if (ceiling.kind == Role::latency) result.name += " (latency)";
    result.group = place.group;
    result.truth = place.truth;
    result.state = ceiling.steadiness;
    result.value = ceiling.rate.median.value;
    result.low = ceiling.rate.low.value;
    result.high = ceiling.rate.high.value;
    result.holds = result.state == Steadiness::at_least
                       ? !result.is_above()
                       : result.low <= place.truth.alone && place.truth.alone <= result.high;
    result.holds_after = result.low <= place.truth.after && place.truth.after <= result.high;
    result.is_seen = place.is_seen;
    result.is_wrong =
        has_event && result.is_steady() && std::abs(result.value / place.truth.after - 1) > figures::wrong_by;
    return result;
}

void judge_levels(const Calibration& calibration, std::map<int, bool>& right, Verdict& verdict)
{
    const Model& model = calibration.world->model();
    std::map<int, std::vector<const MeasuredLevel*>> found;
    for (const int threads : model.thread_counts()) found[threads];
    for (const MeasuredLevel& level : calibration.ceilings.levels_by_threads) found[level.threads].push_back(&level);
    for (const auto& [threads, levels] : found) {
        bool is_right = levels.size() == model.levels();
        for (std::size_t i = 0; is_right && i < levels.size(); ++i) is_right = levels[i]->name == model.level_name(i);
        right[threads] = is_right;
        verdict.has_right_levels = verdict.has_right_levels && is_right;
        verdict.has_false_level = verdict.has_false_level || levels.size() > model.levels();
        for (std::size_t i = 0; is_right && i < model.caches.size(); ++i) {
            if (model.caches[i].octaves >= figures::edge_octaves) continue;
            const double edge = model.edge(i, threads);
            const double to = levels[i]->to.value;
            verdict.edges.push_back(
                {levels[i]->name, threads, to, edge, std::abs(std::log2(to / edge)) <= figures::edge_octaves});
        }
    }
}

}  // namespace

bool JudgedCeiling::is_above() const
{
    return value > truth.fastest * (1 + figures::above_by);
}

Truth truth_of(double rate, double mean_clock, double fastest_clock, const std::vector<float>& kept, int looks)
{
    Truth truth{rate * mean_clock, rate * fastest_clock, rate * mean_clock};
    if (kept.empty()) return truth;
    const std::size_t last = std::max<std::size_t>(1, kept.size() / 10 / static_cast<std::size_t>(looks));
    truth.after *= median_of({kept.end() - static_cast<std::ptrdiff_t>(last), kept.end()});
    return truth;
}

Verdict judge(const Calibration& calibration)
{
    Verdict verdict;
    const bool has_event = calibration.model.kind->change != Change::none;
    std::map<int, bool> right;
    judge_levels(calibration, right, verdict);
    for (const Ceiling& ceiling : calibration.ceilings.all) {
        const auto found = right.find(ceiling.threads);
        const auto place = place_of(ceiling, *calibration.world, found == right.end() || found->second);
        if (place) verdict.ceilings.push_back(judged(ceiling, *place, has_event));
    }
    return verdict;
}

}  // namespace roof::zoo
