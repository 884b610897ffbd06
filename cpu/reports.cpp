// One function per capability; each check compares two kinds of reports.
#include "cpu/topology.hpp"

#include "cpu/counters/encode.hpp"
#include "cpu/counters/event_tables.hpp"
#include "ert/base/text.hpp"

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
    if (mode == "always" || mode == "madvise")
        return {"huge pages", true, "transparent huge pages are in mode '" + mode + "', and the probes ask for them",
                ""};
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

using Sentences = std::vector<std::string>;

void check_virtual_caches(const Reports& reports, Sentences& inconsistencies)
{
    if (reports.hypervisor.empty()) return;
    inconsistencies.push_back(
        "running under " + reports.hypervisor +
        ": reported cache sizes, sharing and clock may be the host's, and not what this guest gets");
}

void check_missing_caches(const Reports& reports, Sentences& inconsistencies)
{
    if (reports.caches.empty()) inconsistencies.push_back("the system reports no cache at all");
    for (const MemoryLevel& cache : reports.caches)
        if (cache.capacity.value <= 0) inconsistencies.push_back(cache.name + " is reported with a capacity of 0");
}

void check_contradicting_caches(const Reports& reports, Sentences& inconsistencies)
{
    for (const CpuidCache& other : reports.cpuid) {
        const std::string name = "L" + std::to_string(other.level);
        const auto cache = std::find_if(reports.caches.begin(), reports.caches.end(),
                                        [&](const MemoryLevel& level) { return level.name == name; });
        if (cache == reports.caches.end()) {
            inconsistencies.push_back("CPUID leaf " + other.leaf + " reports an " + name + " of " +
                                      format_capacity(other.capacity.value) + " that the operating system does not");
        } else if (cache->capacity != other.capacity) {
            inconsistencies.push_back(name + ": the operating system reports " +
                                      format_capacity(cache->capacity.value) + ", CPUID leaf " + other.leaf + " " +
                                      format_capacity(other.capacity.value));
        }
    }
}

void check_share_of_machine(const Reports& reports, Sentences& inconsistencies)
{
    if (reports.allowed_threads < reports.machine_threads)
        inconsistencies.push_back("the affinity mask allows " + std::to_string(reports.allowed_threads) + " of " +
                                  std::to_string(reports.machine_threads) +
                                  " hardware threads: ceilings are those of this share");
    if (reports.quota > 0 && reports.quota < reports.allowed_threads)
        inconsistencies.push_back("the control group grants " + format_exact(reports.quota) +
                                  " processors' worth of time to " + std::to_string(reports.allowed_threads) +
                                  " hardware threads: long launches are throttled");
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

std::vector<std::string> find_inconsistencies(const Reports& reports)
{
    Sentences inconsistencies;
    check_virtual_caches(reports, inconsistencies);
    check_missing_caches(reports, inconsistencies);
    check_contradicting_caches(reports, inconsistencies);
    check_share_of_machine(reports, inconsistencies);
    return inconsistencies;
}

}  // namespace roof::cpu
