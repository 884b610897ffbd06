// Facts about the machine from /proc and /sys, one per function. An unreadable file gives an empty string or 0.
#pragma once

#include "ert/base/units.hpp"

#include <map>
#include <string>

namespace roof::cpu {

/// The "key : value" lines of the first processor in /proc/cpuinfo.
std::map<std::string, std::string> first_processor();

Bytes total_memory();

/// The transparent huge page setting: always, madvise or never.
std::string huge_page_mode();
std::string frequency_governor();
/// "Linux 6.1.0"
std::string kernel_release();
/// The version of the firmware.
std::string bios_version();
/// The nominal clock, else the highest clock; 0 if the system reports neither.
Hertz reported_clock();

/// The processors' worth of time allowed by control groups; 0 if unlimited.
double processor_quota();

/// Tries to count this process's instructions. Returns 0 on success, else the errno of perf_event_open.
int try_hardware_counters();

}  // namespace roof::cpu
