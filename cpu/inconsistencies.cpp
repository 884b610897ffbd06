// Each function compares two kinds of reports.
#include "cpu/inconsistencies.hpp"

#include "ert/base/text.hpp"

#include <algorithm>

namespace roof::cpu {

namespace {

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
    for (const MemoryLevel& cache : reports.caches) {
        if (cache.capacity.value <= 0) inconsistencies.push_back(cache.name + " is reported with a capacity of 0");
    }
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
    if (reports.allowed_threads < reports.machine_threads) {
        inconsistencies.push_back("the affinity mask allows " + std::to_string(reports.allowed_threads) + " of " +
                                  std::to_string(reports.machine_threads) +
                                  " hardware threads: ceilings are those of this share");
    }
    if (reports.quota > 0 && reports.quota < reports.allowed_threads) {
        inconsistencies.push_back("the control group grants " + format_exact(reports.quota) +
                                  " processors' worth of time to " + std::to_string(reports.allowed_threads) +
                                  " hardware threads: long launches are throttled");
    }
}

}  // namespace

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
