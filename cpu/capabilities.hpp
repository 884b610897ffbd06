// What this machine offers for measurements and computations, with a reason for each and a remedy if there is one.
#pragma once

#include "ert/method/bench/machine.hpp"

#include <vector>

namespace roof::cpu {

/// `machine` needs isa, features and huge_pages.
std::vector<Capability> capabilities_of(const Machine& machine);

/// The capability after an attempt to open a counter. `error` is its errno, or 0 on success.
Capability hardware_counters(int error, bool virtual_machine);

}  // namespace roof::cpu
