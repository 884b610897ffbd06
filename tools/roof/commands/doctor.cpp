// `roof doctor`: the machine's description, inconsistencies in it, and what can or cannot be measured here, with
// reasons and remedies.
#include "analysis/study/exports/export.hpp"
#include "ert/base/python_libraries.hpp"
#include "ert/base/ranges.hpp"
#include "ert/base/text.hpp"
#include "ert/method/bench/identity.hpp"
#include "tools/roof/commands/commands.hpp"
#include "tools/roof/console/output.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace roof {
namespace {

std::string fact(std::string_view key, const std::string& value)
{
    return value.empty() ? "" : fmt::format("  {:<14}{}\n", key, printable(value));
}

std::string cpu_text(const Machine& m)
{
    const std::string stepping =
        fmt::format("{} family {} model {} stepping {}", m.vendor, m.family, m.model, m.stepping);
    const std::string usable =
        fmt::format("{} socket(s), {} core(s), {} hardware thread(s), {} per core, {} NUMA node(s)", m.sockets, m.cores,
                    m.threads, m.smt, m.numa_nodes);
    return fact("name", m.name) + fact("cpu", m.cpu_model) + fact("", stepping) + fact("usable", usable) +
           fact("isa", join(m.isa, " ")) + fact("features", join(m.features, " ")) +
           fact("clock", m.clock_reported.value > 0 ? format_si(m.clock_reported.value, "Hz") : "not reported") +
           fact("governor", m.governor.empty() ? "not reported" : m.governor) +
           fact("huge pages", m.huge_pages.empty() ? "not reported" : m.huge_pages) +
           fact("hypervisor", m.hypervisor.empty() ? "none seen" : m.hypervisor);
}

std::string device_text(const Device& device)
{
    std::string text = fact(device.name, device.model);
    for (const MemoryLevel& level : device.levels) {
        const std::string size = level.capacity.value > 0 ? format_capacity(level.capacity.value) : "size not reported";
        text += fact("  " + level.name, fmt::format("{} x {}, each shared by {} hardware thread(s)", level.instances,
                                                    size, level.shared_by));
    }
    if (device.memory.value > 0)
        text += fact("  memory", fmt::format("{}, {} of it available now", format_capacity(device.memory.value),
                                             format_capacity(device.memory_available.value)));
    for (const auto& [key, value] : device.facts) text += fact("  " + key, value);
    return text;
}

std::string with_remedy(const std::string& name, const std::string& reason, const std::string& remedy)
{
    std::string text = fmt::format("  - {}: {}\n", printable(name), printable(reason));
    if (!remedy.empty()) text += fmt::format("      remedy: {}\n", printable(remedy));
    return text;
}

std::string possible_text(const BenchRegistry& registry)
{
    std::string text;
    const std::vector<Device>& devices = registry.machine().devices;
    for (const auto& bench : registry.benches()) {
        const auto fits = [&](const Device& device) { return device.kind == bench->device_kind(); };
        if (std::ranges::none_of(devices, fits)) continue;
        text += fmt::format("  + {} on {}: {}\n", bench->name(), bench->device_kind(), bench->description());
    }
    for (const Capability& c : registry.machine().capabilities)
        if (c.present)
            text += fmt::format("  + {}{}\n", printable(c.name), c.reason.empty() ? "" : ": " + printable(c.reason));
    return text;
}

std::string impossible_text(const BenchRegistry& registry)
{
    std::string text;
    for (const AbsentPart& part : registry.absent()) text += with_remedy("part " + part.name, part.reason, part.remedy);
    for (const Capability& c : registry.machine().capabilities)
        if (!c.present) text += with_remedy(c.name, c.reason, c.remedy);
    return text;
}

std::string section(std::string_view title, const std::string& body)
{
    return fmt::format("{}\n{}\n", title, body.empty() ? "  nothing\n" : body);
}

std::string doctor_text(const Context& context)
{
    const BenchRegistry& registry = context.registry;
    const Machine& machine = registry.machine();
    std::string devices;
    for (const Device& device : machine.devices) devices += device_text(device);
    std::string inconsistencies;
    for (const std::string& inconsistency : machine.inconsistencies)
        inconsistencies += "  ! " + printable(inconsistency) + '\n';
    std::string versions;
    for (const auto& [what, version] : machine.versions) versions += fact(what, version);
    for (const std::string& library : loaded_python_libraries()) versions += fact("library", library);
    return section("Machine, as it reports itself", cpu_text(machine)) +
           section("Devices and their memory levels, as reported", devices) +
           section("Inconsistencies", inconsistencies) + section("Can be measured here", possible_text(registry)) +
           section("Cannot be measured here", impossible_text(registry)) + section("Versions", versions) +
           section("Results", fact("folder", context.results.string()));
}

nlohmann::json doctor_json(const Context& context)
{
    const BenchRegistry& registry = context.registry;
    const auto bench_json = [](const auto& bench) -> nlohmann::json {
        return {{"name", bench->name()}, {"device_kind", bench->device_kind()}, {"description", bench->description()}};
    };
    const auto absent_json = [](const AbsentPart& part) -> nlohmann::json {
        return {{"name", part.name}, {"reason", part.reason}, {"remedy", part.remedy}};
    };
    nlohmann::json machine = analysis::machine_json(registry.machine());
    for (const auto& [name, facts] :
         {std::pair{"identity", identity_of(registry.machine())}, {"state", state_of(registry.machine())}})
        for (const auto& [fact, value] : facts) machine[name][fact] = printable(value);
    return {{"machine", machine},
            {"benches", mapped(registry.benches(), bench_json)},
            {"absent", mapped(registry.absent(), absent_json)},
            {"libraries", loaded_python_libraries()},
            {"results", context.results.string()}};
}

}  // namespace

Action doctor(OptionParser& parser)
{
    return [&json = parser.flag("--json")](Context& context) {
        context.registry.open_all();
        if (json)
            print_json(context.out, doctor_json(context));
        else
            context.out << in_window(doctor_text(context), context.terminal);
        return 0;
    };
}

}  // namespace roof
