// The roofs of several devices and of several nodes, and of the links between them.
#include "analysis/roofline/roofs.hpp"
#include "ert/base/ranges.hpp"
#include "ert/base/text.hpp"
#include "ert/method/bench/machine.hpp"
#include "ert/method/ceilings/looks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

namespace roof::analysis {
namespace {

using Names = std::vector<std::string>;

/// Adds the ends of the intervals, which is never too narrow.
void add(Rate& sum, const Rate& rate)
{
    sum.median += rate.median;
    sum.low += rate.low;
    sum.high += rate.high;
    sum.n = std::min(sum.n, rate.n);
}

/// A calibrated device of the same model if the device itself was not calibrated, else itself.
std::string calibrated_as(const std::string& device, const Ceilings& ceilings, const Machine& machine)
{
    const Names calibrated = devices_of(ceilings);
    const Device* const wanted = machine.find_device(device);
    if (wanted == nullptr || is_in(device, calibrated)) return device;
    const auto is_same_model = [&](const std::string& name) {
        const Device* const other = machine.find_device(name);
        return other != nullptr && other->kind == wanted->kind && other->model == wanted->model;
    };
    const std::string* const found = first_in(calibrated, is_same_model);
    return found ? *found : device;
}

/// The sum under the group's name; `parts` has a ceiling for each of its devices. The clock, which belongs to one
/// device, is left out.
Ceiling sum_of(const std::string& group, const std::vector<const Ceiling*>& parts)
{
    const Ceiling& first = *parts.front();
    Ceiling sum;
    sum.device = group;
    sum.kind = first.kind;
    sum.level = first.level;
    sum.operation = first.operation;
    sum.precision = first.precision;
    sum.isa = first.isa;
    sum.known = first.known;
    sum.devices = static_cast<int>(parts.size());
    sum.rate = first.rate;
    sum.rounds = first.rounds;
    for (const Ceiling* part : std::span(parts).subspan(1)) add(sum.rate, part->rate);
    const Names devices = devices_in(group);
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const Ceiling* const part = parts[i];
        sum.variant += (i > 0 ? " + " : fmt::format("{}, added: ", name(first.known))) + devices[i];
        if (part->device != devices[i]) sum.variant += " (as " + part->device + ")";
        sum.steadiness = std::max(sum.steadiness, part->steadiness);
        if (sum.stands_in.empty()) sum.stands_in = part->stands_in;
        sum.rounds = std::min(sum.rounds, part->rounds);
        sum.working_set_low += part->working_set_low;
        sum.working_set_high += part->working_set_high;
    }
    return sum;
}

/// Of each device the roof of the same precision, or its fastest loop of the same operation on the same level; empty if
/// a device has none.
std::vector<const Ceiling*> same_of_each(const Ceilings& ceilings, const std::vector<Roofs>& devices,
                                         const Ceiling& one)
{
    std::vector<const Ceiling*> found;
    for (const Roofs& roofs : devices) {
        found.push_back(one.kind == Role::bandwidth
                            ? fastest_by(ceilings, roofs.device, roofs.threads, one.level, one.operation)
                            : roofs.precision(one.precision));
        if (found.back() == nullptr) return {};
    }
    return found;
}

std::optional<MeasuredLevel> sum_of(const std::string& group, const Names& devices, const MeasuredLevel& first,
                                    const std::vector<MeasuredLevel>& all)
{
    MeasuredLevel sum = first;
    sum.device = group;
    for (const std::string& device : std::span(devices).subspan(1)) {
        const auto same = [&](const MeasuredLevel& one) { return one.device == device && one.name == first.name; };
        const auto found = std::ranges::find_if(all, same);
        if (found == all.end()) return std::nullopt;
        sum.from += found->from;
        sum.to += found->to;
        sum.reported += found->reported;
        sum.beyond += found->beyond;
        sum.contradiction = sum.contradiction || found->contradiction;
    }
    return sum;
}

void add_group(Ceilings& ceilings, const std::string& group, const Machine& machine)
{
    Names devices = devices_in(group);
    for (std::string& device : devices) device = calibrated_as(device, ceilings, machine);
    std::vector<Roofs> roofs;
    for (const std::string& device : devices) roofs.push_back(roofs_of(ceilings, device));
    std::vector<const Ceiling*> firsts = roofs.front().compute;
    for (const Ceiling& loop : ceilings.all)
        if (loop.kind == Role::bandwidth && loop.device == devices.front()) firsts.push_back(&loop);
    std::vector<Ceiling> sums;
    for (const Ceiling* first : firsts) {
        const auto parts = same_of_each(ceilings, roofs, *first);
        if (!parts.empty() && parts.front() == first) sums.push_back(sum_of(group, parts));
    }
    std::vector<MeasuredLevel> levels;
    for (const MeasuredLevel& level : ceilings.levels) {
        if (level.device != devices.front()) continue;
        if (auto sum = sum_of(group, devices, level, ceilings.levels)) levels.push_back(std::move(*sum));
    }
    std::ranges::move(sums, std::back_inserter(ceilings.all));
    std::ranges::move(levels, std::back_inserter(ceilings.levels));
}

void multiply(Ceiling& ceiling, double nodes)
{
    for (auto* const end : {&ceiling.rate.median, &ceiling.rate.low, &ceiling.rate.high}) *end = *end * nodes;
    ceiling.typical *= nodes;
    ceiling.working_set_low = ceiling.working_set_low * nodes;
    ceiling.working_set_high = ceiling.working_set_high * nodes;
}

}  // namespace

Ceilings with_groups(Ceilings ceilings, std::span<const Measurement> rows, const Machine& machine)
{
    std::set<std::string> groups;
    for (const Measurement& row : rows)
        if (row.role == Role::step && devices_in(row.device).size() > 1) groups.insert(row.device);
    for (const std::string& group : groups) add_group(ceilings, group, machine);
    return ceilings;
}

Bytes link_bytes(const Measurement& row)
{
    if (row.ranks() < 2) return {};
    const bool to_one = row.point.has("communication") && row.point.text("communication") == "broadcast";
    return row.messages * (to_one ? 1 : 2.0 * (row.ranks() - 1) / row.ranks());
}

const Ceiling* link_between_gpus(const Ceilings& ceilings)
{
    return fastest(
        ceilings, [](const Ceiling& ceiling) { return ceiling.kind == Role::bandwidth && ceiling.operation == "bus"; });
}

Ceilings over_nodes(const std::vector<NodeCeilings>& nodes)
{
    if (nodes.empty()) return {};
    const auto number = static_cast<double>(nodes.size());
    Ceilings all;
    for (const Ceiling& first : nodes.front().ceilings.all) {
        const NodeCeilings* slowest = &nodes.front();
        const Ceiling* least = &first;
        for (const NodeCeilings& node : nodes) {
            const auto is_same = [&](const Ceiling& c) { return is_same_ceiling(c, first); };
            const Ceiling* const same = first_in(node.ceilings.all, is_same);
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
    for (const NodeCeilings& node : nodes)
        all.unmeasured.insert(all.unmeasured.end(), node.ceilings.unmeasured.begin(), node.ceilings.unmeasured.end());
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
