// A plan must run on every machine: what a machine lacks makes a row unsupported with a reason, not an error in the
// plan.
#include "cpu/probes/choices.hpp"

#include "cpu/isa.hpp"
#include "ert/base/error.hpp"
#include "ert/base/text.hpp"

#include <algorithm>

namespace roof::cpu {

namespace {

constexpr std::string_view by_siblings = "siblings";
constexpr std::string_view small_pages = "small";

bool takes_siblings(const Point& point)
{
    return point.has("placement") && point.text("placement") == by_siblings;
}

}  // namespace

Axis isa_axis(std::vector<std::string> usual)
{
    Axis axis{"isa", "instruction set of the kernel", std::move(usual), {}};
    for (const Isa& isa : isa_table) axis.allowed.emplace_back(isa.name);
    return axis;
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
    if (threads < 1 || threads > order.size()) {
        throw Unsupported("threads=" + std::to_string(threads) + ", but " + std::to_string(order.size()) +
                          " hardware threads may be used");
    }
    if (threads == 1) return {history.quietest(order.front())};
    return {order.begin(), order.begin() + static_cast<std::ptrdiff_t>(threads)};
}

}  // namespace roof::cpu
