#include "ert/method/bench/identity.hpp"

#include "ert/base/text.hpp"
#include "ert/method/bench/node.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace roof {
namespace {

/// Whether the node's name lasts. Container programs take the first 12 digits of the container's id.
bool has_lasting_name(const Machine& machine)
{
    const bool is_id =
        machine.node.size() >= 12 && machine.node.find_first_not_of("0123456789abcdef") == std::string::npos;
    return machine.host != in_container && !machine.node.empty() && !is_id;
}

bool has_id(const Machine& machine)
{
    return !machine.host.empty() && machine.host != in_container;
}

std::string caches_of(const Machine& machine)
{
    const Device* const cpu = machine.find_device("cpu");
    std::vector<std::string> caches;
    if (cpu != nullptr)
        for (const MemoryLevel& level : cpu->levels)
            if (level.name != "DRAM" && level.capacity.value > 0)
                caches.push_back(level.name + " " + format_capacity(level.capacity.value));
    return join(caches, ", ");
}

}  // namespace

std::string version_of(const Machine& machine, const std::string& part)
{
    return machine.versions.contains(part) ? machine.versions.at(part) : "";
}

Facts identity_of(const Machine& machine)
{
    const std::string name = has_lasting_name(machine) ? machine.node : "";
    const std::string numbers =
        fmt::format(" family {} model {} stepping {}", machine.family, machine.model, machine.stepping);
    return {{"host", has_id(machine) ? machine.host + " " + name : name},
            {"processor", machine.cpu_model.empty() ? "" : machine.cpu_model + numbers},
            {"threads", std::to_string(machine.threads)},
            {"quota", machine.quota},
            {"instruction sets", join(machine.isa, " ")},
            {"caches", caches_of(machine)}};
}

Facts state_of(const Machine& machine)
{
    const Device* const cpu = machine.find_device("cpu");
    const double memory = cpu == nullptr ? 0 : cpu->memory.value;
    return {{"kernel", version_of(machine, "kernel")},
            {"microcode", version_of(machine, "microcode")},
            {"governor", machine.governor},
            {"memory", memory > 0 ? format_capacity(memory) : ""}};
}

std::string differing_facts(const Facts& there, const Facts& here)
{
    std::vector<std::string> differ;
    for (const auto& [name, value] : there) {
        const auto other = std::ranges::find(here, name, &Facts::value_type::first);
        if (name == "host" || value.empty() || other == here.end() || other->second.empty() || value == other->second)
            continue;
        differ.push_back(fmt::format("{} '{}', not '{}'", name, printable(value), printable(other->second)));
    }
    return join(differ, "; ");
}

bool is_same_host(const Machine& a, const Machine& b)
{
    if (has_id(a) && has_id(b) && a.host != b.host) return false;
    return !has_lasting_name(a) || !has_lasting_name(b) || a.node == b.node;
}

}  // namespace roof
