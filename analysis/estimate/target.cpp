#include "analysis/estimate/target.hpp"

#include "analysis/roofline/roofs.hpp"
#include "ert/base/error.hpp"
#include "ert/base/text.hpp"

#include <algorithm>

namespace roof::analysis {
namespace {

Ceiling ceiling_of(const std::string& device, Role kind, const std::string& level, double rate)
{
    Ceiling ceiling;
    ceiling.device = device;
    ceiling.kind = kind;
    ceiling.level = level;
    ceiling.operation = kind == Role::compute ? "fma" : "load";
    ceiling.rate = {{rate}, {rate}, {rate}, 0, 0};
    return ceiling;
}

}  // namespace

const Link& Target::link(const std::string& link_name) const
{
    const auto found = std::ranges::find(links, link_name, &Link::name);
    if (found != links.end()) return *found;
    std::vector<std::string> names;
    for (const Link& one : links) names.push_back(one.name);
    throw InputError(links.empty() ? "'" + name + "' has no links between devices"
                                   : unknown_word("link of " + name, link_name, names));
}

Target target_of(const MachineSheet& sheet)
{
    Target target{.name = sheet.name,
                  .title = sheet.title,
                  .known = Known::spec,
                  .device = sheet.kind,
                  .machine = {},
                  .ceilings = {},
                  .memory = sheet.memory(),
                  .links = sheet.links};
    target.machine.name = sheet.name;
    for (const SheetLevel& level : sheet.levels) {
        Ceiling& ceiling = target.ceilings.all.emplace_back(
            ceiling_of(target.device, Role::bandwidth, level.name, level.bandwidth.value));
        ceiling.working_set_high = level.capacity;
        MeasuredLevel extent;
        extent.device = target.device;
        extent.name = level.name;
        extent.to = level.capacity;
        target.ceilings.levels.push_back(extent);
    }
    for (const auto& [precision, peak] : sheet.peaks)
        target.ceilings.all.emplace_back(ceiling_of(target.device, Role::compute, "core", peak.value)).precision =
            traits(precision).name;
    return target;
}

std::vector<Target> targets_of(const Results& calibration, const std::string& name)
{
    const Ceilings ceilings = fit_ceilings(calibration.rows, calibration.machine);
    std::vector<Target> targets;
    for (const std::string& device : devices_of(ceilings)) {
        const Roofs roofs = roofs_of(ceilings, device);
        if (roofs.levels.empty() || roofs.compute.empty()) continue;
        const Device* const found = calibration.machine.find_device(device);
        targets.push_back({.name = name,
                           .title = found != nullptr ? found->model : device,
                           .known = Known::measured,
                           .device = device,
                           .machine = calibration.machine,
                           .ceilings = ceilings,
                           .memory = found != nullptr ? found->memory : Bytes{},
                           .links = {}});
    }
    if (targets.empty())
        throw InputError("'" + name +
                         "' holds no ceilings of both bandwidth and compute; `roof calibrate` measures them");
    if (targets.size() > 1)
        for (Target& target : targets) target.name += ":" + target.device;
    return targets;
}

}  // namespace roof::analysis
