// Facts about the machine from /proc and /sys, one per function. An unreadable file gives an empty string or 0.
#pragma once

#include "ert/base/units.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace roof::cpu {

/// The first "key : value" lines of /proc/cpuinfo, those of the first processor.
std::map<std::string, std::string> first_processor();

Bytes total_memory();

/// The word in brackets of the transparent huge page setting: always, madvise or never.
std::string huge_page_mode();
std::string frequency_governor();
/// "Linux 6.1.0"
std::string kernel_release();
/// Nominal or highest clock, in that order of preference; 0 if the system does not say.
Hertz reported_clock();

/// The folders of this process's group and of its parents, nearest first; `controller` is empty for version 2.
std::vector<std::filesystem::path> control_groups(const std::string& controller);

/// Processors' worth of time that the control groups of this process allow; 0 if unlimited.
double processor_quota();

/// Tries to count this process's own instructions: 0 if that works, else the errno of perf_event_open.
int try_hardware_counters();

}  // namespace roof::cpu
