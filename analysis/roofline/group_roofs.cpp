// The roofs of several devices, and of the link between them.
#include "analysis/roofline/roofs.hpp"

#include "analysis/table/rows.hpp"
#include "ert/method/bench/device_group.hpp"

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

/// The sum under the group's name. The clock, which belongs to one device, are left out.
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
    sum.devices = static_cast<int>(parts.size());
    sum.rate = first.rate;
    sum.rounds = first.rounds;
    sum.variant = (timed(first.variant) == "emulated" ? "Emulated, added: " : "measured, added: ") + first.device;
    for (const Ceiling* part : std::span(parts).subspan(1)) {
        add(sum.rate, part->rate);
        sum.variant += " + " + part->device;
    }
    for (const Ceiling* part : parts) {
        sum.steadiness = std::max(sum.steadiness, part->steadiness);
        sum.rounds = std::min(sum.rounds, part->rounds);
        sum.working_set_low += part->working_set_low;
        sum.working_set_high += part->working_set_high;
    }
    return sum;
}

/// The same roof of each device; empty if a device has none.
std::vector<const Ceiling*> same_of_each(const std::vector<Roofs>& devices, const Ceiling& roof)
{
    std::vector<const Ceiling*> found;
    for (const Roofs& roofs : devices) {
        found.push_back(roof.kind == Role::bandwidth ? roofs.level(roof.level) : roofs.precision(roof.precision));
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

void add_group(Ceilings& ceilings, const std::string& group, const Names& devices)
{
    std::vector<Roofs> roofs;
    for (const std::string& device : devices) roofs.push_back(roofs_of(ceilings, device));
    std::vector<Ceiling> sums;
    for (const auto& first : {roofs.front().levels, roofs.front().compute})
        for (const Ceiling* roof : first)
            if (const auto parts = same_of_each(roofs, *roof); !parts.empty()) sums.push_back(sum_of(group, parts));
    std::vector<MeasuredLevel> levels;
    for (const MeasuredLevel& level : ceilings.levels) {
        if (level.device != devices.front()) continue;
        if (auto sum = sum_of(group, devices, level, ceilings.levels)) levels.push_back(std::move(*sum));
    }
    std::ranges::move(sums, std::back_inserter(ceilings.all));
    std::ranges::move(levels, std::back_inserter(ceilings.levels));
}

}  // namespace

Ceilings with_groups(Ceilings ceilings, std::span<const Measurement> rows)
{
    std::set<std::string> groups;
    for (const Measurement& row : rows) {
        if (row.role == Role::step && devices_in(row.device).size() > 1) groups.insert(row.device);
    }
    for (const std::string& group : groups) add_group(ceilings, group, devices_in(group));
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

}  // namespace roof::analysis
