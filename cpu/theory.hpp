// Rates per clock and core for the ceilings of this machine, by what the vendor's guide says of its core
// (ert/method/bench/chip.hpp). They are not measured. Ceilings are compared with them, and a ceiling above its guide's
// rate is a measurement error.
#pragma once

#include "ert/method/bench/chip.hpp"

#include <vector>

namespace roof::cpu {

/// The guide's rates for the ceilings of this machine, under the probes' names; none for a processor that no file
/// describes. Needs `vendor`, `family`, `model`, `isa` and `features`.
std::vector<SpecRate> spec_rates_of(const Machine& machine);
/// The same for this core.
std::vector<SpecRate> spec_rates_of(const Machine& machine, const CoreChip& core);

}  // namespace roof::cpu
