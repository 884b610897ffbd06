// The control groups that limit this process. Both versions are read, because containers use both.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace roof {

/// The folders of this process's group and its parents, nearest first. `controller` is empty for version 2. In a container this process's
/// path may be invisible, and the mount's root is its group, so a folder may be missing. `system`: the folder that has /proc and /sys.
std::vector<std::filesystem::path> control_groups(const std::string& controller,
                                                  const std::filesystem::path& system = "/");

}  // namespace roof
