// What limits this process or changes what it measures: its control groups (both versions are read, because containers
// use both), how much memory it may still take without being killed or swapped, and variables of the environment.
#pragma once

#include "ert/base/units.hpp"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace roof {

/// The number with which a file of the kernel begins; none for "max", and without the file.
std::optional<double> first_number(const std::filesystem::path& file);

/// The number after a word at the beginning of a line, as in /proc/meminfo, memory.stat and cpu.stat.
std::optional<double> number_after(const std::filesystem::path& file, const std::string& word);

/// The folders of this process's group and its parents, nearest first. `controller` is empty for version 2. In a
/// container this process's path may be invisible, and the mount's root is its group, so a folder may be missing.
/// `system`: the folder that has /proc and /sys.
std::vector<std::filesystem::path> control_groups(const std::string& controller,
                                                  const std::filesystem::path& system = "/");

/// The kernel's MemAvailable, or less if the limit of the address space or of this process's control groups leaves
/// less; infinite if nothing limits it. `system`: the folder of /proc and /sys. `held`: what is known to be held; a
/// group leaves no more than its limit beside it, although it counts a page of a file for its first reader alone.
Bytes available_memory(const std::filesystem::path& system = "/", Bytes held = {});

/// What this process holds in memory: VmRSS. 0 where the system does not say.
Bytes resident_memory(const std::filesystem::path& system = "/");

/// How a remark on a limit begins.
inline constexpr std::string_view throttled_by_group = "the control group's limit throttled this process in ";

/// The ended periods of a control group that limits processor time, and those in which its time was used up.
struct GroupPeriods {
    double all = 0;
    double throttled = 0;
};

/// Of this process's groups and those above, of both versions, by folder. `system`: the folder that has /proc and /sys.
std::map<std::filesystem::path, GroupPeriods> group_periods(const std::filesystem::path& system = "/");

/// "… in 93% of its periods" of the group that throttled most since `before`; empty below 2%, and if no period has
/// ended.
std::string throttling_since(const std::map<std::filesystem::path, GroupPeriods>& before);

/// "set in the environment: GOMP_SPINCOUNT=0, LD_PRELOAD": variables by which libraries measure otherwise; empty if
/// there are none. A value with a path is left out.
std::string variables_set();

}  // namespace roof
