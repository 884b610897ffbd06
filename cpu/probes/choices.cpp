// A plan must run on every machine: what a machine lacks makes a row unsupported with a reason, not an error in the
// plan.
#include "cpu/probes/choices.hpp"

#include "cpu/isa.hpp"
#include "ert/base/error.hpp"
#include "ert/base/names.hpp"
#include "ert/base/text.hpp"
#include "ert/method/bench/array_operation.hpp"

#include <algorithm>
#include <limits>

namespace roof::cpu {
namespace {

constexpr std::string_view by_siblings = "siblings";
constexpr std::string_view small_pages = "small";

bool takes_siblings(const Point& point)
{
    return point.has("placement") && point.text("placement") == by_siblings;
}

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

constexpr double coarse_share = 1.0 / 8;  ///< of the largest set of a sweep: from there on one set per octave

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

Axis isa_axis(std::vector<std::string> usual)
{
    return {"isa", "instruction set of the kernel", std::move(usual), names_in(isa_table)};
}

Axis threads_axis(const Machine& machine, const std::vector<int>& counts)
{
    constexpr long long most = 4096;
    Axis axis{"threads", "pinned threads", {}, {}, true, 1, most};
    for (const int count : counts) axis.defaults.push_back(std::to_string(count));
    if (!counts.empty()) return axis;
    axis.defaults.emplace_back("1");
    if (machine.threads > 1) axis.defaults.push_back(std::to_string(machine.threads));
    return axis;
}

Axis placement_axis()
{
    return {"placement",
            "one thread on every core before a second on any, or all hardware threads of a core before the next",
            {"cores"},
            {"cores", std::string(by_siblings)}};
}

Axis pages_axis()
{
    return {"pages",
            "memory in huge pages, where the system grants them, or in its smallest",
            {"huge"},
            {"huge", std::string(small_pages)}};
}

std::optional<std::string> missing_isa(const Point& point, const Machine& machine)
{
    const std::string& isa = point.text("isa");
    if (std::find(machine.isa.begin(), machine.isa.end(), isa) != machine.isa.end()) return std::nullopt;
    return "this machine cannot run " + isa + "; it has " + join(machine.isa, ", ");
}

std::optional<std::string> missing_threads(const Point& point, const Machine& machine)
{
    if (point.integer("threads") <= machine.threads) return std::nullopt;
    return "only " + std::to_string(machine.threads) + " hardware threads may be used here";
}

std::optional<std::string> missing_siblings(const Point& point, const Machine& machine)
{
    if (!takes_siblings(point) || machine.smt > 1) return std::nullopt;
    return "one hardware thread per core";
}

Resources resources_in_cores(const Point& point, const Machine& machine)
{
    const bool shares_cores = takes_siblings(point) || point.integer("threads") > machine.cores;
    return shares_cores ? Resources::shared : Resources::their_own;
}

Pages pages_of(const Point& point)
{
    return point.has("pages") && point.text("pages") == small_pages ? Pages::small : Pages::huge;
}

bool has_feature(const Machine& machine, const std::string& feature)
{
    return std::find(machine.features.begin(), machine.features.end(), feature) != machine.features.end();
}

std::vector<int> processors_for(const Point& point, const Processors& all, CoreHistory& history)
{
    const std::vector<int>& order = takes_siblings(point) ? all.packed : all.spread;
    const auto threads = static_cast<std::size_t>(point.integer("threads"));
    if (threads < 1 || threads > order.size())
        throw Unsupported("threads=" + std::to_string(threads) + ", but " + std::to_string(order.size()) +
                          " hardware threads may be used");
    if (threads == 1) return {history.quietest(order.front())};
    return {order.begin(), order.begin() + static_cast<std::ptrdiff_t>(threads)};
}

Axis operation_axis(std::vector<std::string> usual)
{
    Axis axis{"operation", "what each element costs", std::move(usual), names_in(usual_operations)};
    axis.canonical = [](const std::string& text) { return parse_array_operation(text).name; };
    axis.text_meaning = "a loop as text: a[i] = s * b[i]";
    return axis;
}

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
    const double most = std::min(wanted, most_of_memory(machine, 1.0 / 4));
    return octaves(coarse_share * most, most);
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
