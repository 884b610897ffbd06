// How much memory a process may still take without being killed or swapped.
#pragma once

#include "ert/base/units.hpp"

#include <filesystem>

namespace roof {

/// The kernel's MemAvailable, or less if the limit of the address space, of this process's control group or of a parent leaves less;
/// infinite if nothing limits it. `system`: the folder that has /proc and /sys.
Bytes available_memory(const std::filesystem::path& system = "/");

}  // namespace roof
