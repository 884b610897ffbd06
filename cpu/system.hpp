// Facts about the machine from /proc, /sys and CPUID, one per function. An unreadable file gives an empty string or 0.
#pragma once

#include "ert/base/units.hpp"

#include <map>
#include <string>
#include <vector>

namespace roof::cpu {

/// The "key : value" lines of the first processor in /proc/cpuinfo.
std::map<std::string, std::string> first_processor();

Bytes total_memory();

/// The transparent huge page setting: always, madvise or never.
std::string huge_page_mode();
std::string frequency_governor();
std::string kernel_release();
std::string bios_version();
/// The nominal clock, else the highest clock; 0 if the system reports neither.
Hertz reported_clock();

/// The processors' worth of time allowed by control groups; 0 if unlimited.
double processor_quota();

/// Tries to count this process's instructions. Returns 0 on success, else the errno of perf_event_open.
int try_hardware_counters();

/// A cache size from CPUID, for comparison with the operating system's. The two may differ in a virtual machine.
struct CpuidCache {
    std::string leaf;  ///< the source of the size, such as "0x8000001d"
    int level = 0;     ///< 1, 2, 3
    Bytes capacity;    ///< of the data or unified cache
};

/// Every leaf that this processor supports. Some leaves report the same level twice.
std::vector<CpuidCache> cpuid_caches();

/// The hypervisor's own name, such as "KVM" or "Hyper-V"; empty on bare metal.
std::string hypervisor_name();

}  // namespace roof::cpu
