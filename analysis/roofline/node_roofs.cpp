// The roofs of ranks on several nodes, and of the network between them.
#include "analysis/roofline/roofs.hpp"
#include "ert/base/number.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace roof::analysis {
namespace {

auto key_of(const Ceiling& c)
{
    return std::tie(c.device, c.kind, c.level, c.operation, c.precision, c.isa, c.condition, c.threads, c.packs_cores);
}

const Ceiling* same_in(const Ceilings& ceilings, const Ceiling& as)
{
    const auto found = std::ranges::find_if(ceilings.all, [&](const Ceiling& c) { return key_of(c) == key_of(as); });
    return found == ceilings.all.end() ? nullptr : &*found;
}

void multiply(Ceiling& ceiling, double nodes)
{
    for (auto* const end : {&ceiling.rate.median, &ceiling.rate.low, &ceiling.rate.high}) *end = *end * nodes;
    ceiling.typical *= nodes;
    ceiling.working_set_low = ceiling.working_set_low * nodes;
    ceiling.working_set_high = ceiling.working_set_high * nodes;
}

}  // namespace

Ceilings over_nodes(const std::vector<NodeCeilings>& nodes)
{
    if (nodes.empty()) return {};
    const auto number = static_cast<double>(nodes.size());
    Ceilings all;
    for (const Ceiling& first : nodes.front().ceilings.all) {
        const NodeCeilings* slowest = &nodes.front();
        const Ceiling* least = &first;
        for (const NodeCeilings& node : nodes) {
            const Ceiling* const same = same_in(node.ceilings, first);
            if (same == nullptr || same->rate.median < least->rate.median) {
                least = same;
                slowest = &node;
            }
            if (least == nullptr) break;
        }
        if (least == nullptr) continue;
        Ceiling& roof = all.all.emplace_back(*least);
        multiply(roof, first.kind == Role::latency ? 1 : number);
        roof.variant = fmt::format("{} x {}, the slowest", nodes.size(), slowest->node);
    }
    const auto summed = [&](std::vector<MeasuredLevel> levels) {
        for (MeasuredLevel& level : levels)
            for (Bytes* const bytes : {&level.from, &level.to, &level.reported, &level.beyond})
                *bytes = *bytes * number;
        return levels;
    };
    all.levels = summed(nodes.front().ceilings.levels);
    all.levels_by_threads = summed(nodes.front().ceilings.levels_by_threads);
    return all;
}

const Ceiling* link_between_nodes(const Ceilings& ceilings, int ranks)
{
    return fastest(ceilings, [&](const Ceiling& ceiling) {
        const std::vector<std::string> words = split(ceiling.level, 'x');
        const auto nodes = parse_number<int>(words.front());
        const auto each = parse_number<int>(words.back());
        return ceiling.kind == Role::bandwidth && ceiling.operation == "allreduce" && words.size() == 2 && nodes &&
               each && *nodes * *each == ranks;
    });
}

}  // namespace roof::analysis
