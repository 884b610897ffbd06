#include "ert/method/ceilings/levels.hpp"

#include "ert/base/text.hpp"
#include "ert/method/bench/level.hpp"
#include "ert/method/bench/machine.hpp"

#include <algorithm>
#include <array>
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
    // A sweep never fills memory, so memory's capacity cannot be compared; nor can that of a cache whose end no set
    // showed.
    if (level.edge.value <= 0 || level.reported.value <= 0) return;
    level.contradiction = std::abs(std::log2(level.edge / level.reported)) > 1;  // a factor of two
}

/// Compares several threads with one: with n threads on n cores a private level holds n times as much, a shared one as
/// much as before.
Sharing sharing_of(const MeasuredLevel& one, const MeasuredLevel& more, const Machine& machine)
{
    constexpr double tolerance = 1.3;
    const double growth = more.edge / one.edge;
    const auto is_about = [&](double wanted) { return growth < wanted * tolerance && growth > wanted / tolerance; };
    const Sharing seen = is_about(more.threads) ? Sharing::per_core : is_about(1) ? Sharing::shared : Sharing::unclear;
    // A neighbour that occupies half of a cache during one of the sweeps makes a private cache look shared, or a shared
    // one private. So the result is unclear if the machine reports the opposite.
    const MemoryLevel* const reported = machine.find_level(one.device, one.name);
    if (reported == nullptr || reported->capacity.value <= 0 || reported->shared_by <= 0) return seen;
    const bool is_shared = reported->cores_each(machine.smt) > 1;
    return seen == (is_shared ? Sharing::shared : Sharing::per_core) ? seen : Sharing::unclear;
}

bool is_of_sweep(const Measurement& row)
{
    return (row.role == Role::bandwidth || row.role == Role::latency) && row.point.has("working_set") &&
           !row.point.has("cpu_node") && (!row.point.has("path") || is_by_two_readers(row.point));
}

bool passes_l1(const Measurement& row)
{
    if (kind_of_device(row.device) != "gpu") return false;
    const std::string isa = row.point.text_or("isa", "");
    return isa == "cg" || isa == "bulk" || row.point.text_or("operation", "") == "store";
}

/// The set sweep of one device and thread count, and what else shows its levels.
struct LevelSweeps {
    const Sweep* loads = nullptr;
    const Sweep* latencies = nullptr;  ///< of as many threads; null if there are none
    std::vector<WorkingSets> edges{};  ///< where they have to lie; empty if not known
    bool shows_caches = false;         ///< latencies tell caches from memory: of as many threads, or of the fewest
};

/// From here on a cache serves nothing of a set, even if its edge is 1.5 octaves wide.
constexpr double clear_of_edge = 1.68;

/// Where too few sets were measured to find the edges again: each set belongs to the level in which it lies wherever
/// the edges are. A plateau without sets is of a level that was not measured.
std::vector<Plateau> placed_between(const std::vector<WorkingSets>& edges, const std::vector<RatePoint>& points)
{
    std::vector<Plateau> plateaus(edges.size() + 1);
    for (std::size_t i = 0; i < plateaus.size(); ++i) {
        const double low = i == 0 ? 0 : clear_of_edge * edges[i - 1].high;
        const double high = i < edges.size() ? plateaus[i].edge = edges[i].low : HUGE_VAL;
        for (const RatePoint& point : points) {
            if (point.working_set < low || point.working_set > high) continue;
            if (plateaus[i].flat.low <= 0) plateaus[i].flat.low = point.working_set;
            plateaus[i].flat.high = point.working_set;
        }
    }
    return plateaus;
}

/// What the machine reports of the device's caches: their number, and the capacity of the largest that so many threads
/// reach.
struct ReportedCaches {
    std::size_t number = 0;
    Bytes last{};
};

ReportedCaches reported_caches(const Machine& machine, const std::string& device, int threads)
{
    ReportedCaches caches;
    const Device* const found = machine.find_device(device);
    if (found == nullptr) return caches;
    for (const MemoryLevel& level : found->levels) {
        if (level_traits(level.name).kind != LevelKind::cache || level.capacity.value <= 0) continue;
        ++caches.number;
        caches.last = std::max(caches.last, level.capacity * level.instances_reached(threads, machine.smt));
    }
    return caches;
}

/// A machine that reports a third cache reports all: a further plateau is a cache that is shared with others, full of
/// other sizes. Without latencies, what lies within the largest reported cache is no memory.
std::size_t most_plateaus(const ReportedCaches& caches, bool sees_memory)
{
    return caches.number < 3 ? most_levels : caches.number + (sees_memory ? 1 : 0);
}

std::vector<Plateau> plateaus_of(const LevelSweeps& sweeps, const std::vector<RatePoint>& loads, std::size_t most)
{
    constexpr double weight_of_latency = 0.7;
    std::vector<RateCurve> curves{{loads}};
    if (sweeps.latencies != nullptr) curves.push_back({rates_of(*sweeps.latencies), weight_of_latency});
    std::vector<Plateau> plateaus = find_plateaus(curves, sweeps.edges, most);
    if (plateaus.empty() && !sweeps.edges.empty()) return placed_between(sweeps.edges, loads);
    return plateaus;
}

/// What a nearer level keeps of a set falls with the size, ever more slowly, and what a farther one serves rises. So
/// where a set is slower than smaller ones that agree, the farther level serves a part of it: the first of the largest
/// two that agree, from `first` on; else `begin`. A cache may still serve a part of a triad over twice its size.
std::size_t before_decline(const LevelSweeps& sweeps, const std::vector<RatePoint>& points, std::size_t first,
                           std::size_t begin)
{
    constexpr double agreement = 0.003;
    const auto falls = [&](std::size_t from, std::size_t to) {
        double fall = points[from].rate / points[to].rate - 1;
        if (sweeps.latencies == nullptr) return fall;
        const auto near = sweeps.latencies->find(points[from].working_set);
        const auto far = sweeps.latencies->find(points[to].working_set);
        if (near != sweeps.latencies->end() && far != sweeps.latencies->end())
            fall = std::max(fall, near->second->fastest / far->second->fastest - 1);
        return fall;
    };
    for (std::size_t i = begin; i >= first + 2; --i)
        if (falls(i - 1, begin) > agreement && std::max(falls(i - 2, i - 1), falls(i - 1, i - 2)) <= agreement)
            return i - 2;
    return begin;
}

/// The median of the undisturbed samples; 0 without one.
double undisturbed_rate(const Round& round)
{
    std::vector<double> rates;
    for (const RateSample& sample : round)
        if (!sample.disturbed) rates.push_back(sample.rate);
    return rates.empty() ? 0 : spread_of(rates).median;
}

/// Whether undisturbed loads of the largest set are slower by more than a fifth than those of the set before it, in
/// every round that has both.
bool loads_still_fall(const Sweep& loads)
{
    constexpr double flat = 0.8;
    if (loads.size() < 2) return false;
    const std::vector<Round>& largest = loads.rbegin()->second->samples;
    const std::vector<Round>& before = std::next(loads.rbegin())->second->samples;
    bool falls = false;
    for (std::size_t i = 0; i < std::min(largest.size(), before.size()); ++i) {
        const double rate = undisturbed_rate(largest[i]);
        const double nearer = undisturbed_rate(before[i]);
        if (rate <= 0 || nearer <= 0) continue;
        if (rate > flat * nearer) return false;
        falls = true;
    }
    return falls;
}

/// `first`: the number of the fastest level.
std::vector<MeasuredLevel> levels_of(const LevelSweeps& sweeps, const std::string& device, int threads,
                                     const Machine& machine, std::size_t first)
{
    // Of a set ten times as large as a cache, the cache serves a tenth at most, whatever it keeps.
    constexpr double most_from_nearer = 0.1;
    const std::vector<RatePoint> points = rates_of(*sweeps.loads);
    const ReportedCaches reported = reported_caches(machine, device, threads);
    // The farthest sets are memory's if no cache that is reported holds them, or if latencies show as many caches
    // before them.
    const bool is_past_caches = !points.empty() && points.back().working_set > clear_of_edge * reported.last.value;
    const std::vector<Plateau> plateaus =
        plateaus_of(sweeps, points, most_plateaus(reported, is_past_caches || sweeps.shows_caches));
    const bool sees_memory = is_past_caches || (sweeps.shows_caches && plateaus.size() + first - 1 > reported.number);
    const auto index_from = [&](double bytes) {
        return static_cast<std::size_t>(std::ranges::lower_bound(points, bytes, {}, &RatePoint::working_set) -
                                        points.begin());
    };
    std::vector<MeasuredLevel> levels;
    for (std::size_t i = 0; i < plateaus.size(); ++i) {
        const Plateau& plateau = plateaus[i];
        const bool is_last = i + 1 == plateaus.size();
        const bool is_memory = is_last && sees_memory;
        const double nearer = i == 0 ? 0 : plateaus[i - 1].edge;
        if (plateau.flat.high <= 0 || (is_last && plateau.flat.high < clear_of_edge * nearer)) continue;
        // The last cache serves a part of sets little larger than it: memory begins in the middle (in octaves).
        const double low = is_memory && nearer > 0 ? std::sqrt(plateau.flat.low * plateau.flat.high) : plateau.flat.low;
        const std::size_t end = std::max<std::size_t>(1, index_from(plateau.flat.high + 1));  // past the last flat one
        const double held = is_memory && is_past_caches ? clear_of_edge * reported.last.value : 0;
        const std::size_t clear = index_from(std::max({plateau.flat.low, held, clear_of_edge * nearer}));
        std::size_t begin = std::min(index_from(std::max({low, held, nearer / most_from_nearer})), end - 1);
        if (!is_memory && kind_of_device(device) == "cpu")
            begin = before_decline(sweeps, points, index_from(std::max(plateau.flat.low, 2.1 * nearer)), begin);
        MeasuredLevel& level = levels.emplace_back();
        level.device = device;
        level.threads = threads;
        level.name = is_memory ? std::string(memory_level) : cache_level(i + first);
        level.nearer = Bytes{nearer};
        level.from = Bytes{points[begin].working_set};
        level.clear = Bytes{points[std::min(clear, begin)].working_set};
        level.swept.assign(points.begin() + static_cast<std::ptrdiff_t>(begin),
                           points.begin() + static_cast<std::ptrdiff_t>(end));
        // Of all measured sets, whether or not they have samples in the state that is compared.
        const auto beyond = is_last ? sweeps.loads->end() : sweeps.loads->upper_bound(plateau.edge);
        level.to = level.from;
        if (beyond != sweeps.loads->begin()) level.to = std::max(level.to, Bytes{std::prev(beyond)->first});
        level.edge = Bytes{plateau.edge};
        if (beyond != sweeps.loads->end()) level.beyond = Bytes{beyond->first};
        level.still_falls = is_last && loads_still_fall(*sweeps.loads);
        set_beside_report(level, machine);
    }
    return levels;
}

/// The L1 of `through`, and behind it the levels of a sweep past the L1.
std::vector<MeasuredLevel> behind_l1(const std::vector<MeasuredLevel>& through, std::vector<MeasuredLevel> past)
{
    for (MeasuredLevel& level : past) level.past_l1 = level.name != memory_level;
    if (!past.empty() && !through.empty()) past.back().from = std::max(past.back().from, through.back().from);
    if (through.empty() || through.front().name != "L1") return past;
    MeasuredLevel l1 = through.front();
    // Through the L1 its loads rise to memory at once, so half of that rise is past its edge.
    l1.to = l1.edge = Bytes{l1.swept.back().working_set};
    past.insert(past.begin(), l1);
    return past;
}

/// Where the edges of these levels lie with more threads: a private cache holds up to as many times more, a shared one
/// as much as before; three tenths more to both sides. Threads may share a core, whatever is reported.
std::vector<WorkingSets> edges_of(const std::vector<MeasuredLevel>& fewest, int threads)
{
    constexpr double uncertainty = 1.3;
    std::vector<WorkingSets> edges;
    for (const MeasuredLevel& level : fewest)
        if (level.edge.value > 0)
            edges.push_back({level.edge.value / uncertainty, level.edge.value * threads / level.threads * uncertainty});
    return edges;
}

/// Sets `sharing`, also of the level with one thread.
void compare_thread_counts(std::vector<MeasuredLevel>& levels, const Machine& machine)
{
    for (MeasuredLevel& one : levels)
        for (MeasuredLevel& more : levels)
            if (one.threads == 1 && more.threads > 1 && one.device == more.device && one.name == more.name &&
                one.edge.value > 0 && more.edge.value > 0)
                one.sharing = more.sharing = sharing_of(one, more, machine);
}

}  // namespace

std::string condition_of(const Point& point)
{
    std::vector<std::string> conditions;
    if (point.text_or("placement", "cores") != "cores") conditions.push_back(point.text("placement"));
    if (point.text_or("pages", "huge") != "huge") conditions.push_back(point.text("pages") + " pages");
    if (level_traits(point.text_or("path", core_level)).kind == LevelKind::path && !is_by_two_readers(point))
        conditions.push_back(point.text("path"));
    if (point.has("cpu_node") && point.has("memory_node"))
        conditions.push_back("node " + point.text("cpu_node") + " from node " + point.text("memory_node"));
    return join(conditions, ", ");
}

std::vector<RatePoint> rates_of(const Sweep& sweep)
{
    std::vector<RatePoint> all;
    std::array<std::vector<RatePoint>, 2> of_state;
    for (const auto& [bytes, point] : sweep) {
        all.push_back({bytes, point->fastest, point->typical});
        for (const bool disturbed : {false, true})
            if (const RatePoint rates = point->rates_of(disturbed); rates.rate > 0)
                of_state[disturbed ? 1 : 0].push_back(rates);
    }
    const auto& [alone, beside] = of_state;
    const std::vector<RatePoint>& more = alone.size() >= beside.size() ? alone : beside;
    return 2 * more.size() < all.size() ? all : more;
}

std::map<SweepKey, Sweep> sweeps_in(const std::vector<PointSummary>& points)
{
    std::map<SweepKey, Sweep> sweeps;
    for (const PointSummary& point : points) {
        const Measurement& row = point.best;
        if (point.rounds == 0 || !is_of_sweep(row)) continue;
        const SweepKey key{row.role,          row.device,
                           point.threads(),   condition_of(row.point),
                           operation_of(row), passes_l1(row) ? row.point.text_or("isa", "") : ""};
        const PointSummary*& fastest = sweeps[key][row.point.number("working_set")];
        const auto rate = [](const PointSummary& of) { return of.sustained().rate.median; };
        if (fastest == nullptr || rate(*fastest) < rate(point)) fastest = &point;
    }
    return sweeps;
}

bool is_answered_by(const MeasuredLevel& level, const Measurement& row)
{
    if (is_by_two_readers(row.point)) return level.past_l1 && level.name != memory_level;
    return level.name == memory_level || level.past_l1 == passes_l1(row);
}

bool is_by_two_readers(const Point& point)
{
    return point.text_or("path", "") == "readers:2" && point.text_or("isa", "") == "cg";
}

std::string operation_of(const Measurement& row)
{
    return row.point.text_or("operation", row.bench) + (is_by_two_readers(row.point) ? " by two readers" : "");
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
    std::map<std::string, std::vector<MeasuredLevel>> with_fewest;
    for (const auto& [key, sweep] : chosen) {
        const auto& [device, threads] = key;
        const bool is_cpu = kind_of_device(device) == "cpu";
        const auto latencies = sweeps.find({Role::latency, device, threads, "", "latency", ""});
        const std::vector<MeasuredLevel>& fewest = with_fewest[device];
        const bool has_latencies = is_cpu && latencies != sweeps.end();
        const LevelSweeps shown{sweep, has_latencies ? &latencies->second : nullptr, edges_of(fewest, threads),
                                has_latencies || (!fewest.empty() && fewest.back().name == memory_level)};
        std::vector<MeasuredLevel> levels = levels_of(shown, device, threads, machine, 1);
        if (const auto past = sweeps.find({Role::bandwidth, device, threads, "", "load", "cg"}); past != sweeps.end())
            levels = behind_l1(levels, levels_of({&past->second}, device, threads, machine, 2));
        if (is_cpu && with_fewest[device].empty()) with_fewest[device] = levels;
        all.insert(all.end(), levels.begin(), levels.end());
    }
    compare_thread_counts(all, machine);
    return all;
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
