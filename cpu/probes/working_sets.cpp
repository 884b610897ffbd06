#include "cpu/probes/working_sets.hpp"

#include "ert/base/text.hpp"

#include <algorithm>
#include <limits>

namespace roof::cpu {

namespace {

constexpr long long smallest = 8 << 10;
/// A set this many times as large as the caches lies almost entirely in memory.
constexpr double beyond_caches = 4;

/// A share of the available memory; no limit if that is unknown.
double most_of_memory(const Machine& machine, double share)
{
    const double available = machine.device("cpu").memory_available.value;
    return available > 0 ? share * available : std::numeric_limits<double>::infinity();
}

double memory_for_sweep(const Machine& machine)
{
    return most_of_memory(machine, 1.0 / 2);
}

/// The size of the largest level; `together`: the sum of its instances.
double largest_cache(const Machine& machine, bool together)
{
    double largest = 0;
    for (const MemoryLevel& level : machine.device("cpu").levels) {
        if (level.name == "DRAM") continue;
        largest = std::max(largest, level.capacity.value * (together ? level.instances : 1));
    }
    return largest;
}

/// Ascending sizes: two per octave up to `coarse`, one per octave from there to `most`.
std::vector<std::string> octaves(double coarse, double most)
{
    std::vector<std::string> sets{std::to_string(smallest)};
    const auto add = [&](long long bytes) {
        if (bytes > smallest && static_cast<double>(bytes) <= most) sets.push_back(std::to_string(bytes));
    };
    for (long long bytes = smallest; static_cast<double>(bytes) <= most; bytes *= 2) {
        add(bytes);
        if (static_cast<double>(bytes) < coarse) add(bytes + bytes / 2);
    }
    return sets;
}

}  // namespace

Axis working_set_axis(std::string meaning, std::vector<std::string> defaults)
{
    constexpr long long least_bytes = 1024;
    constexpr long long most_bytes = 1LL << 42;
    Axis axis{"working_set", std::move(meaning), std::move(defaults), {}, true, least_bytes, most_bytes};
    axis.keywords = {"levels", "fastest", "edges", "memory"};
    return axis;
}

std::vector<std::string> usual_working_sets(const Machine& machine)
{
    constexpr double least_largest = 256 << 20;
    constexpr double coarse_share = 1.0 / 8;
    const double wanted = std::max(least_largest, beyond_caches * largest_cache(machine, true));
    const double most = std::min(wanted, memory_for_sweep(machine));
    return octaves(coarse_share * most, most);
}

std::string usual_memory_set(const Machine& machine)
{
    return usual_working_sets(machine).back();
}

std::string usual_node_set(const Machine& machine)
{
    constexpr double least = 256 << 20;
    const double nodes = std::max(1, machine.numa_nodes);
    const double share = std::max(largest_cache(machine, false), largest_cache(machine, true) / nodes);
    const double wanted = std::max(least, beyond_caches * share);
    return octaves(0, std::min(wanted, most_of_memory(machine, 1.0 / 2) / nodes)).back();
}

std::vector<std::string> usual_chase_sets(const Machine& machine)
{
    constexpr double least_largest = 128 << 20;
    const double wanted = std::max(least_largest, beyond_caches * largest_cache(machine, false));
    return octaves(0, std::min(wanted, most_of_memory(machine, 1.0 / 4)));
}

std::optional<std::string> sweep_inconsistency(const Machine& machine)
{
    const double wanted = beyond_caches * largest_cache(machine, true);
    if (memory_for_sweep(machine) >= wanted) return std::nullopt;
    const double end = std::stod(usual_memory_set(machine));
    return "only " + format_capacity(machine.device("cpu").memory_available.value) +
           " of memory are available: the sweep ends at " + format_capacity(end) +
           ", and memory's rate may be partly a cache's";
}

}  // namespace roof::cpu
