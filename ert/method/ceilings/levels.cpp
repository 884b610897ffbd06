#include "ert/method/ceilings/levels.hpp"

#include "ert/base/names.hpp"
#include "ert/method/bench/level.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace roof {
namespace {

constexpr std::array<Named<Sharing>, 3> sharings{{
    {Sharing::unclear, "unclear"},
    {Sharing::per_core, "per core"},
    {Sharing::shared, "shared"},
}};

/// The machine's report of the level. Null if there is none.
const MemoryLevel* reported_level(const Machine& machine, const MeasuredLevel& level)
{
    const Device* const device = machine.find_device(level.device);
    if (device == nullptr) return nullptr;
    const auto found = std::ranges::find(device->levels, level.name, &MemoryLevel::name);
    return found == device->levels.end() ? nullptr : &*found;
}

int cores_at(const MemoryLevel& reported, const Machine& machine)
{
    return std::max(1, reported.shared_by / std::max(1, machine.smt));
}

/// Capacity of all instances of the level that the threads reach, with one thread per core.
Bytes reported_capacity(const Machine& machine, const MeasuredLevel& level)
{
    const MemoryLevel* const reported = reported_level(machine, level);
    if (reported == nullptr) return {};
    const int cores_each = cores_at(*reported, machine);
    const int reached = std::clamp((level.threads + cores_each - 1) / cores_each, 1, std::max(1, reported->instances));
    return reported->capacity * static_cast<double>(reached);
}

void set_beside_report(MeasuredLevel& level, const Machine& machine)
{
    constexpr double tolerance = 2;
    level.reported = reported_capacity(machine, level);
    // A sweep never fills memory, so memory's capacity cannot be compared.
    if (level.name == memory_level || level.reported.value <= 0) return;
    const double ratio = level.to / level.reported;
    level.contradiction = ratio > tolerance || ratio < 1 / tolerance;
}

/// Compares several threads with one. A growth between that of a shared and of a private cache is unclear.
Sharing sharing_of(const MeasuredLevel& one, const MeasuredLevel& more)
{
    constexpr double tolerance = 1.2;
    const double growth = more.to / one.to;
    const auto is_about = [&](double wanted) { return growth < wanted * tolerance && growth > wanted / tolerance; };
    if (is_about(more.threads)) return Sharing::per_core;
    return is_about(1) ? Sharing::shared : Sharing::unclear;
}

/// A neighbour that occupies half of a cache during one of the sweeps makes a private cache look shared, or a shared
/// one private. So the result is unclear if the machine reports the opposite.
Sharing unless_contradicted(Sharing seen, const MeasuredLevel& level, const Machine& machine)
{
    const MemoryLevel* const reported = reported_level(machine, level);
    if (reported == nullptr || reported->capacity.value <= 0 || reported->shared_by <= 0) return seen;
    const Sharing reported_sharing = cores_at(*reported, machine) > 1 ? Sharing::shared : Sharing::per_core;
    return seen == reported_sharing ? seen : Sharing::unclear;
}

/// The last cache serves a part of sets that are not much larger than it. So memory begins in the middle (in octaves) of its plateau.
void begin_in_the_middle(MeasuredLevel& memory, const Sweep& sweep)
{
    memory.from = Bytes{sweep.lower_bound(std::sqrt(memory.from.value * memory.to.value))->first};
}

}  // namespace

std::string_view name(Sharing sharing)
{
    return name_in(sharings, sharing);
}

bool passes_l1(const Measurement& row)
{
    if (!row.device.starts_with("gpu:")) return false;
    const auto says = [&](const char* axis, std::string_view word) {
        return row.point.has(axis) && row.point.text(axis) == word;
    };
    return says("isa", "cg") || says("isa", "bulk") || says("operation", "store");
}

bool is_answered_by(const MeasuredLevel& level, const Measurement& row)
{
    return level.name == "DRAM" || level.past_l1 == passes_l1(row);
}

std::vector<MeasuredLevel> with_levels_past_l1(const std::vector<MeasuredLevel>& through,
                                               std::vector<MeasuredLevel> past)
{
    std::vector<MeasuredLevel> levels;
    if (!through.empty() && through.front().name == "L1") levels.push_back(through.front());
    for (MeasuredLevel& level : past) level.past_l1 = level.name != "DRAM";
    if (!past.empty() && !through.empty())
        past.back().from.value = std::max(past.back().from.value, through.back().from.value);
    levels.insert(levels.end(), past.begin(), past.end());
    return levels;
}

std::vector<MeasuredLevel> levels_of(const Sweep& sweep, const std::string& device, int threads, const Machine& machine,
                                     int first)
{
    std::vector<RatePoint> points;
    for (const auto& [bytes, point] : sweep) points.push_back({bytes, point->sustained.rate.median.value});
    const std::vector<Plateau> plateaus = find_plateaus(points);
    std::vector<MeasuredLevel> levels;
    for (std::size_t i = 0; i < plateaus.size(); ++i) {
        const bool is_last = i + 1 == plateaus.size();
        MeasuredLevel level;
        level.device = device;
        level.threads = threads;
        level.name = is_last ? std::string(memory_level) : cache_level(i + static_cast<std::size_t>(first));
        level.from = Bytes{points[plateaus[i].first].working_set};
        level.to = Bytes{points[plateaus[i].last].working_set};
        if (!is_last) level.beyond = Bytes{points[plateaus[i].last + 1].working_set};
        set_beside_report(level, machine);
        levels.push_back(std::move(level));
    }
    if (levels.size() > 1) begin_in_the_middle(levels.back(), sweep);
    return levels;
}

void compare_thread_counts(std::vector<MeasuredLevel>& levels, const Machine& machine)
{
    for (MeasuredLevel& level : levels) {
        if (level.name == memory_level) continue;
        for (const MeasuredLevel& other : levels) {
            if (other.device != level.device || other.name != level.name || other.threads == level.threads) continue;
            if (level.threads == 1) level.sharing = unless_contradicted(sharing_of(level, other), level, machine);
            if (other.threads == 1) level.sharing = unless_contradicted(sharing_of(other, level), level, machine);
        }
    }
}

}  // namespace roof
