// Combines the reports of hwloc, CPUID, /proc and /sys in one document.
#include "cpu/topology.hpp"

#include "cpu/isa.hpp"
#include "cpu/system.hpp"
#include "cpu/theory.hpp"
#include "ert/base/text.hpp"
#include "ert/method/bench/process_limits.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <utility>

#include <hwloc.h>

namespace roof::cpu {
namespace {

std::string text(const std::map<std::string, std::string>& entries, const std::string& key)
{
    const auto found = entries.find(key);
    return found == entries.end() ? "" : found->second;
}

int number(const std::map<std::string, std::string>& entries, const std::string& key)
{
    return std::atoi(text(entries, key).c_str());
}

/// Lower case, with one hyphen for each run of other characters than letters and digits. Marks such as "(R)" are
/// removed.
std::string slug(const std::string& words)
{
    std::string out;
    bool in_mark = false;
    for (const char c : words) {
        in_mark = in_mark ? c != ')' : c == '(';
        if (in_mark) continue;
        if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
            out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        } else if (!out.empty() && out.back() != '-') {
            out += '-';
        }
    }
    while (!out.empty() && out.back() == '-') out.pop_back();
    return out;
}

std::string hwloc_version()
{
    const unsigned version = hwloc_get_api_version();
    return std::to_string(version >> 16) + "." + std::to_string(version >> 8 & 0xff);
}

Device cpu_device(const Machine& machine, const Layout& layout)
{
    Device device;
    device.name = "cpu";
    device.kind = "cpu";
    device.model = machine.cpu_model;
    device.memory = total_memory();
    device.memory_available = available_memory();
    device.levels = layout.caches;
    device.levels.push_back({"DRAM", device.memory, 1, layout.machine_threads});
    return device;
}

}  // namespace

Topology read_topology()
{
    const Layout layout = read_layout();
    auto processor = first_processor();
    processor.insert(layout.processor.begin(), layout.processor.end());  // all there is without /proc
    const double quota = processor_quota();
    Topology topology = granted_topology(layout, quota);
    Machine& machine = topology.machine;
    machine.cpu_model = text(processor, "model name");
    machine.vendor = text(processor, "vendor_id");
    machine.family = number(processor, "cpu family");
    machine.model = number(processor, "model");
    machine.stepping = number(processor, "stepping");
    machine.sockets = layout.sockets;
    machine.quota = quota > 0 ? format_exact(quota) : "none";
    machine.threads = static_cast<int>(topology.processors.spread.size());
    machine.cores = std::min(layout.cores, machine.threads);
    machine.smt = std::max(1, layout.threads / std::max(1, layout.cores));
    machine.numa_nodes = layout.numa_nodes;
    machine.isa = usable_isas();
    machine.features = usable_features();
    machine.hypervisor = hypervisor_name();
    machine.governor = frequency_governor();
    machine.huge_pages = huge_page_mode();
    machine.clock_reported = reported_clock();
    machine.name = slug(machine.cpu_model) + "-family" + std::to_string(machine.family) + "-" +
                   std::to_string(machine.threads) + "cpu";
    if (quota > 0 && quota < layout.threads)  // in percent of a processor
        machine.name += "-quota" + std::to_string(std::llround(100 * quota));
    machine.devices = {cpu_device(machine, layout)};
    machine.devices.front().spec_rates = spec_rates_of(machine);
    machine.capabilities = capabilities_of(machine);
    machine.inconsistencies = find_inconsistencies(
        {machine.hypervisor, layout.caches, cpuid_caches(), layout.machine_threads, layout.threads, quota});
    machine.versions["kernel"] = kernel_release();
    machine.versions["compiler"] = ROOF_COMPILER;
    machine.versions["hwloc"] = hwloc_version();
    for (const auto& [name, text] : {std::pair{"BIOS", bios_version()}, {"microcode", text(processor, "microcode")}})
        if (!text.empty()) machine.versions[name] = text;
    return topology;
}

}  // namespace roof::cpu
