// One function per capability.
#include "cpu/capabilities.hpp"

#include "cpu/counters/encode.hpp"
#include "cpu/counters/event_tables.hpp"
#include "cpu/system.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace roof::cpu {

namespace {

bool contains(const std::vector<std::string>& words, const std::string& word)
{
    return std::find(words.begin(), words.end(), word) != words.end();
}

Capability huge_pages(const std::string& mode)
{
    if (mode == "always" || mode == "madvise") {
        return {"huge pages", true, "transparent huge pages are in mode '" + mode + "', and the probes ask for them",
                ""};
    }
    const std::string reason = mode.empty() ? "this kernel has no transparent huge pages"
                                            : "transparent huge pages are in mode '" + mode + "'";
    return {"huge pages", false, reason + ": bandwidth beyond L2 will be lower than it could be",
            "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled"};
}

Capability by_cpuid(const std::string& name, bool present, const std::string& what)
{
    return {name, present,
            present ? "CPUID reports " + what + " and the operating system saves its registers"
                    : "the processor, its hypervisor or the operating system does not offer " + what,
            ""};
}

/// Whether this build has event names for the counted work. Another capability says whether the machine allows
/// counting.
Capability counted_work(const Machine& machine)
{
    const std::string what = "counted FLOPs and lines";
    if (const std::string reason = missing_encoder(); !reason.empty())
        return {what, false, reason, "install libpfm4-dev and build again"};
    const EventTable* const table = event_table(machine.vendor, machine.family, machine.model);
    if (table == nullptr)
        return {what, false,
                "no table of events for family " + std::to_string(machine.family) + ", model " +
                    std::to_string(machine.model) + " of " + machine.vendor,
                "`perf stat -j` with events of your own, and `roof import`"};
    return {what, true, "events of " + std::string(table->microarchitecture) + ". " + std::string(table->caveat), ""};
}

}  // namespace

std::vector<Capability> capabilities_of(const Machine& machine)
{
    const bool bf16 = contains(machine.features, "avx512_bf16") || contains(machine.features, "amx_bf16");
    return {hardware_counters(try_hardware_counters(), !machine.hypervisor.empty()),
            huge_pages(machine.huge_pages),
            counted_work(machine),
            by_cpuid("avx512", contains(machine.isa, "avx512"), "AVX-512"),
            by_cpuid("fma", contains(machine.features, "fma"), "fused multiply-add"),
            by_cpuid("bf16", bf16, "bf16 arithmetic (AVX512_BF16 or AMX_BF16)")};
}

Capability hardware_counters(int error, bool virtual_machine)
{
    const std::string name = "hardware counters";
    if (error == 0) return {name, true, "perf_event_open counts this process's instructions", ""};
    const std::string reason = "perf_event_open: " + std::string(std::strerror(error));
    switch (error) {
        case EACCES:
        case EPERM:
            return {name, false, reason,
                    "sudo sysctl kernel.perf_event_paranoid=1, or grant CAP_PERFMON; a container's seccomp filter must "
                    "allow perf_event_open"};
        case ENOENT:
        case EOPNOTSUPP:
            return {name, false, reason + (virtual_machine ? " (this virtual machine has no PMU)" : " (no PMU driver)"),
                    virtual_machine ? "give the virtual machine a PMU, or run on bare metal" : "load the PMU driver"};
        default:
            return {name, false, reason, "use a kernel with CONFIG_PERF_EVENTS"};
    }
}

}  // namespace roof::cpu
