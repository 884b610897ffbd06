#include "ert/method/ceilings/levels.hpp"

#include "ert/base/text.hpp"
#include "ert/method/bench/device_group.hpp"
#include "ert/method/bench/level.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace roof {
namespace {

/// Sets the capacity that the machine reports for all instances that the threads reach.
void set_beside_report(MeasuredLevel& level, const Machine& machine)
{
    const MemoryLevel* const reported = machine.find_level(level.device, level.name);
    if (reported == nullptr) return;
    level.reported = reported->capacity * reported->instances_reached(level.threads, machine.smt);
    // A sweep never fills memory, so memory's capacity cannot be compared.
    if (level.name == memory_level || level.reported.value <= 0) return;
    level.contradiction = std::abs(std::log2(level.to / level.reported)) > 1;  // a factor of two
}

/// Compares several threads with one: with n threads on n cores a private level holds n times as much, a shared one as much as before.
Sharing sharing_of(const MeasuredLevel& one, const MeasuredLevel& more, const Machine& machine)
{
    constexpr double tolerance = 1.2;
    const double growth = more.to / one.to;
    const auto is_about = [&](double wanted) { return growth < wanted * tolerance && growth > wanted / tolerance; };
    const Sharing seen = is_about(more.threads) ? Sharing::per_core : is_about(1) ? Sharing::shared : Sharing::unclear;
    // A neighbour that occupies half of a cache during one of the sweeps makes a private cache look shared, or a shared one private. So
    // the result is unclear if the machine reports the opposite.
    const MemoryLevel* const reported = machine.find_level(one.device, one.name);
    if (reported == nullptr || reported->capacity.value <= 0 || reported->shared_by <= 0) return seen;
    const bool is_shared = reported->cores_each(machine.smt) > 1;
    return seen == (is_shared ? Sharing::shared : Sharing::per_core) ? seen : Sharing::unclear;
}

bool is_of_sweep(const Measurement& row)
{
    return (row.role == Role::bandwidth || row.role == Role::latency) && row.point.has("working_set") &&
           !row.point.has("cpu_node") && !row.point.has("path");
}

bool passes_l1(const Measurement& row)
{
    if (kind_of_device(row.device) != "gpu") return false;
    const std::string isa = row.point.text_or("isa", "");
    return isa == "cg" || isa == "bulk" || row.point.text_or("operation", "") == "store";
}

/// `first`: the number of the fastest level.
std::vector<MeasuredLevel> levels_of(const Sweep& sweep, const std::string& device, int threads, const Machine& machine,
                                     std::size_t first)
{
    const std::vector<RatePoint> points = rates_of(sweep);
    std::vector<MeasuredLevel> levels;
    for (const Plateau& plateau : find_plateaus(points)) {
        MeasuredLevel& level = levels.emplace_back();
        level.device = device;
        level.threads = threads;
        level.name = cache_level(levels.size() - 1 + first);
        level.from = Bytes{points[plateau.first].working_set};
        level.to = Bytes{points[plateau.last].working_set};
        if (plateau.last + 1 < points.size())
            level.beyond = Bytes{points[plateau.last + 1].working_set};
        else
            level.name = memory_level;
        set_beside_report(level, machine);
    }
    // The last cache serves a part of sets that are not much larger than it. So memory begins in the middle (in octaves) of its plateau.
    if (levels.size() > 1) {
        MeasuredLevel& memory = levels.back();
        memory.from = Bytes{sweep.lower_bound(std::sqrt(memory.from.value * memory.to.value))->first};
    }
    return levels;
}

/// The L1 of `through`, and behind it the levels of a sweep past the L1.
std::vector<MeasuredLevel> behind_l1(const std::vector<MeasuredLevel>& through, std::vector<MeasuredLevel> past)
{
    for (MeasuredLevel& level : past) level.past_l1 = level.name != memory_level;
    if (!past.empty() && !through.empty()) past.back().from = std::max(past.back().from, through.back().from);
    if (!through.empty() && through.front().name == "L1") past.insert(past.begin(), through.front());
    return past;
}

/// Sets `sharing`, also of the level with one thread.
void compare_thread_counts(std::vector<MeasuredLevel>& levels, const Machine& machine)
{
    for (MeasuredLevel& one : levels)
        for (MeasuredLevel& more : levels)
            if (one.threads == 1 && more.threads > 1 && one.device == more.device && one.name == more.name &&
                one.name != memory_level)
                one.sharing = more.sharing = sharing_of(one, more, machine);
}

constexpr double steepest = 0.35;       ///< log2 of rate per octave; recorded shared caches fall by up to 0.15
constexpr double least_drop = 0.25;     ///< log2 of rate: 16%
constexpr double steepest_mean = 0.22;  ///< of a whole plateau; chance agreement on a way down is steeper
constexpr double least_span = 1;        ///< octaves
constexpr std::size_t least_points = 3;

/// Log2 of rate: the median of each point and its neighbours, then the largest of each point and those after it.
std::vector<double> staircase_of(std::span<const RatePoint> sweep)
{
    std::vector<double> logs;
    for (const RatePoint& point : sweep) logs.push_back(std::log2(point.rate));
    std::vector<double> stairs = logs;
    for (std::size_t i = 1; i + 1 < logs.size(); ++i)
        stairs[i] = std::max(std::min(logs[i - 1], logs[i]), std::min(std::max(logs[i - 1], logs[i]), logs[i + 1]));
    stairs.back() = std::max(logs.back(), logs[logs.size() - 2]);
    for (std::size_t i = stairs.size() - 1; i-- > 0;) stairs[i] = std::max(stairs[i], stairs[i + 1]);
    return stairs;
}

}  // namespace

std::string condition_of(const Point& point)
{
    std::vector<std::string> conditions;
    if (point.text_or("placement", "cores") != "cores") conditions.push_back(point.text("placement"));
    if (point.text_or("pages", "huge") != "huge") conditions.push_back(point.text("pages") + " pages");
    if (point.has("path")) conditions.push_back(point.text("path"));
    if (point.has("cpu_node") && point.has("memory_node"))
        conditions.push_back("node " + point.text("cpu_node") + " from node " + point.text("memory_node"));
    return join(conditions, ", ");
}

std::vector<RatePoint> rates_of(const Sweep& sweep)
{
    std::vector<RatePoint> rates;
    for (const auto& [bytes, point] : sweep) rates.push_back({bytes, point->rate()});
    return rates;
}

std::map<SweepKey, Sweep> sweeps_in(const std::vector<PointSummary>& points)
{
    std::map<SweepKey, Sweep> sweeps;
    for (const PointSummary& point : points) {
        const Measurement& row = point.best;
        if (point.rounds == 0 || !is_of_sweep(row)) continue;
        const SweepKey key{row.role,
                           row.device,
                           point.threads(),
                           condition_of(row.point),
                           row.point.text_or("operation", row.bench),
                           passes_l1(row) ? row.point.text_or("isa", "") : ""};
        const PointSummary*& fastest = sweeps[key][row.point.number("working_set")];
        if (fastest == nullptr || fastest->rate() < point.rate()) fastest = &point;
    }
    return sweeps;
}

bool is_answered_by(const MeasuredLevel& level, const Measurement& row)
{
    return level.name == memory_level || level.past_l1 == passes_l1(row);
}

std::vector<MeasuredLevel> find_levels(const std::vector<PointSummary>& points, const Machine& machine)
{
    const std::map<SweepKey, Sweep> sweeps = sweeps_in(points);
    std::map<std::pair<std::string, int>, const Sweep*> chosen;
    for (const auto& [key, sweep] : sweeps) {
        if (key.role != Role::bandwidth || !key.condition.empty() || !key.past_l1.empty()) continue;
        const auto [place, is_first] = chosen.try_emplace({key.device, key.threads}, &sweep);
        if (!is_first && key.operation == "load") place->second = &sweep;
    }
    std::vector<MeasuredLevel> all;
    for (const auto& [key, sweep] : chosen) {
        const auto& [device, threads] = key;
        std::vector<MeasuredLevel> levels = levels_of(*sweep, device, threads, machine, 1);
        const Sweep* swept = sweep;
        if (const auto past = sweeps.find({Role::bandwidth, device, threads, "", "load", "cg"}); past != sweeps.end()) {
            levels = behind_l1(levels, levels_of(past->second, device, threads, machine, 2));
            swept = &past->second;
        }
        for (MeasuredLevel& level : levels) {
            const Sweep& of_level = level.name == "L1" ? *sweep : *swept;
            level.swept = rates_of({of_level.lower_bound(level.from.value), of_level.upper_bound(level.to.value)});
        }
        all.insert(all.end(), levels.begin(), levels.end());
    }
    compare_thread_counts(all, machine);
    return all;
}

std::vector<Plateau> find_plateaus(std::span<const RatePoint> sweep)
{
    if (sweep.size() < least_points) return {};
    const std::vector<double> stairs = staircase_of(sweep);
    const auto octaves = [&](std::size_t from, std::size_t to) {
        return std::log2(sweep[to].working_set / sweep[from].working_set);
    };
    std::vector<Plateau> runs{{0, 0}};
    for (std::size_t i = 1; i < sweep.size(); ++i) {
        if (stairs[i - 1] - stairs[i] > steepest * octaves(i - 1, i)) runs.push_back({i, i});
        runs.back().last = i;
    }
    std::vector<Plateau> plateaus;
    for (const Plateau& run : runs) {
        if (!plateaus.empty() && stairs[plateaus.back().last] - stairs[run.first] < least_drop)
            plateaus.back().last = run.last;
        else
            plateaus.push_back(run);
    }
    std::erase_if(plateaus, [&](const Plateau& run) {
        const double length = octaves(run.first, run.last);
        const bool is_steep = stairs[run.first] - stairs[run.last] > steepest_mean * length;
        const bool is_short = run.last - run.first + 1 < least_points || length < least_span;
        return (is_short || is_steep) && run.last + 1 < sweep.size();
    });
    return plateaus;
}

std::size_t fastest_pair(std::span<const RatePoint> sweep)
{
    const auto slower = [&](std::size_t i) { return std::min(sweep[i].rate, sweep[i + 1].rate); };
    std::size_t fastest = 0;
    for (std::size_t i = 1; i + 1 < sweep.size(); ++i)
        if (slower(i) > slower(fastest)) fastest = i;
    return fastest;
}

}  // namespace roof
