// What limits this process: its control groups (both versions are read, because containers use both), and how much memory it may still
// take without being killed or swapped.
#pragma once

#include "ert/base/units.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace roof {

/// The folders of this process's group and its parents, nearest first. `controller` is empty for version 2. In a container this process's
/// path may be invisible, and the mount's root is its group, so a folder may be missing. `system`: the folder that has /proc and /sys.
std::vector<std::filesystem::path> control_groups(const std::string& controller,
                                                  const std::filesystem::path& system = "/");

/// The kernel's MemAvailable, or less if the limit of the address space, of this process's control group or of a parent leaves less;
/// infinite if nothing limits it. `system`: the folder that has /proc and /sys.
Bytes available_memory(const std::filesystem::path& system = "/");

}  // namespace roof
