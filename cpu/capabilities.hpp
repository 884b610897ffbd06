// What this machine offers for measuring and computing, each with a reason and, if there is one, a remedy.
#pragma once

#include "ert/method/bench/machine.hpp"

#include <vector>

namespace roof::cpu {

/// `machine`: with isa, features and huge_pages filled in.
std::vector<Capability> capabilities_of(const Machine& machine);

/// The capability after an attempt to open a counter; `error` is its errno, 0 if it worked.
Capability hardware_counters(int error, bool virtual_machine);

}  // namespace roof::cpu
