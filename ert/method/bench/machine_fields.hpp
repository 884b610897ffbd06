// The fields of a machine and their names in machine.yaml and in JSON. `io` writes each field, or reads it.
#pragma once

#include "ert/method/bench/machine.hpp"

#include <type_traits>

namespace roof {

template <class T, class Struct>
concept Is = std::is_same_v<std::remove_const_t<T>, Struct>;

void list_fields(auto& io, Is<MemoryLevel> auto& level)
{
    io("name", level.name);
    io("capacity_bytes", level.capacity);
    io("instances", level.instances);
    io("shared_by_threads", level.shared_by);
}

void list_fields(auto& io, Is<Capability> auto& capability)
{
    io("name", capability.name);
    io("present", capability.present);
    io("reason", capability.reason);
    io("remedy", capability.remedy);
}

void list_fields(auto& io, Is<SpecRate> auto& spec)
{
    io("kind", spec.kind);
    io("level", spec.level);
    io("operation", spec.operation);
    io("isa", spec.isa);
    io("precision", spec.precision);
    io("per_clock", spec.per_clock);
    io("source", spec.source);
}

void list_fields(auto& io, Is<Device> auto& device)
{
    io("name", device.name);
    io("kind", device.kind);
    io("model", device.model);
    io("levels", device.levels);
    io("memory_bytes", device.memory);
    io("memory_available_bytes", device.memory_available);
    io("facts", device.facts);
    io("spec_rates", device.spec_rates);
}

void list_fields(auto& io, Is<Machine> auto& machine)
{
    io("name", machine.name);
    io("node", machine.node);
    io("host", machine.host);
    io("cpu_model", machine.cpu_model);
    io("vendor", machine.vendor);
    io("family", machine.family);
    io("model", machine.model);
    io("stepping", machine.stepping);
    io("sockets", machine.sockets);
    io("cores", machine.cores);
    io("threads", machine.threads);
    io("quota", machine.quota);
    io("smt", machine.smt);
    io("numa_nodes", machine.numa_nodes);
    io("isa", machine.isa);
    io("features", machine.features);
    io("hypervisor", machine.hypervisor);
    io("governor", machine.governor);
    io("huge_pages", machine.huge_pages);
    io("clock_reported_hz", machine.clock_reported);
    io("devices", machine.devices);
    io("capabilities", machine.capabilities);
    io("inconsistencies", machine.inconsistencies);
    io("versions", machine.versions);
}

}  // namespace roof
