// The energy counters of a CPU's packages and of their memory (RAPL), as Linux offers them in /sys/class/powercap. They
// count what all processes use, and are there on few virtual machines.
#pragma once

#include "ert/method/bench/power.hpp"

#include <filesystem>

namespace roof::cpu {

/// Adds up the packages (`intel-rapl:N`, on AMD too) and the memory beside them (`dram`, which no package's counter
/// includes). `folder`: the kernel's.
PowerMeter rapl_meter(const std::filesystem::path& folder = "/sys/class/powercap");

}  // namespace roof::cpu
