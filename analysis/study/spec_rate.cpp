#include "analysis/study/spec_rate.hpp"

#include <algorithm>
#include <cstdlib>

namespace roof::analysis {
namespace {

bool stands_beside(const SpecRate& spec, const Ceiling& ceiling)
{
    return spec.kind == name(ceiling.kind) && spec.level == ceiling.level && spec.operation == ceiling.operation &&
           (spec.isa.empty() || spec.isa == ceiling.isa) &&
           (spec.precision.empty() || spec.precision == ceiling.precision);
}

/// A GPU's rates are the sum over its multiprocessors; 0 for other devices.
int multiprocessors(const Device* device)
{
    if (device == nullptr || device->kind != "gpu") return 0;
    const auto count = device->facts.find("multiprocessors");
    return count == device->facts.end() ? 0 : std::atoi(count->second.c_str());
}

/// Threads use one core after the other, unless they were packed onto each core's hardware threads.
int cores_under(const Ceiling& ceiling, const Machine& machine)
{
    if (const int count = multiprocessors(machine.find_device(ceiling.device)); count > 0) return count;
    const int per_core = std::max(1, machine.smt);
    if (ceiling.packs_cores) return (ceiling.threads + per_core - 1) / per_core;
    return std::clamp(ceiling.threads, 1, std::max(1, machine.cores));
}

}  // namespace

const SpecRate* spec_rate_of(const Ceiling& ceiling, const Machine& machine)
{
    const Device* const device = machine.find_device(ceiling.device);
    if (device == nullptr) return nullptr;
    for (const SpecRate& spec : device->spec_rates)
        if (stands_beside(spec, ceiling)) return &spec;
    return nullptr;
}

double per_clock_and_core(const Ceiling& ceiling, const Machine& machine)
{
    return ceiling.per_clock.median.value * ceiling.threads / cores_under(ceiling, machine);
}

std::optional<double> share_of_spec(const Ceiling& ceiling, const Machine& machine)
{
    const SpecRate* const spec = spec_rate_of(ceiling, machine);
    const double reached = per_clock_and_core(ceiling, machine);
    if (spec == nullptr || spec->per_clock <= 0 || reached <= 0) return std::nullopt;
    return reached / spec->per_clock;
}

}  // namespace roof::analysis
