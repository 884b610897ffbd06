// What this machine offers for measuring and computing, each with the reason and, where something can be done, the remedy.
#pragma once

#include "ert/method/bench/machine.hpp"

#include <vector>

namespace roof::cpu {

/// `machine`: with isa, features and huge_pages filled in.
std::vector<Capability> capabilities_of(const Machine& machine);

/// The capability that an attempt to open a counter shows; `error` is its errno, 0 if it worked.
Capability hardware_counters(int error, bool virtual_machine);

}  // namespace roof::cpu
