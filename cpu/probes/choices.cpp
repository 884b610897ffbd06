// One plan is to run everywhere: what a machine lacks is an obstacle with a reason, not a mistake in the plan.
#include "cpu/probes/choices.hpp"

#include "cpu/isa.hpp"
#include "ert/base/error.hpp"
#include "ert/base/text.hpp"

#include <algorithm>

namespace roof::cpu {

Axis isa_axis(std::vector<std::string> usual)
{
    Axis axis{"isa", "instruction set of the kernel", std::move(usual), {}};
    for (const Isa& isa : isa_table) axis.legal.emplace_back(isa.name);
    return axis;
}

Axis threads_axis(const Machine& machine)
{
    constexpr long long most = 4096;
    Axis axis{"threads", "pinned threads, one of every core first", {"1"}, {}, true, 1, most};
    if (machine.threads > 1) axis.usual.push_back(std::to_string(machine.threads));
    return axis;
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

bool has_feature(const Machine& machine, const std::string& feature)
{
    return std::find(machine.features.begin(), machine.features.end(), feature) != machine.features.end();
}

std::vector<int> processors_for(const Point& point, const std::vector<int>& all)
{
    const auto threads = static_cast<std::size_t>(point.integer("threads"));
    if (threads < 1 || threads > all.size()) {
        throw Unsupported("threads=" + std::to_string(threads) + ", but " + std::to_string(all.size()) +
                          " hardware threads may be used");
    }
    return {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(threads)};
}

}  // namespace roof::cpu
