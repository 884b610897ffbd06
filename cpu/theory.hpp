// Rates per clock and core of each microarchitecture, from the vendors' guides. They are not measured; ceilings are compared with them,
// and a ceiling above its guide's rate is a measurement error.
#pragma once

#include "ert/method/bench/machine.hpp"

#include <string_view>
#include <vector>

namespace roof::cpu {

/// Floating-point instructions that can start per clock. 0: not known.
struct Pipes {
    double fma = 0;    ///< multiply-adds, or multiplications
    double add = 0;    ///< additions
    double total = 0;  ///< of both together
};

/// Figures of one core. 0: not known.
struct Figures {
    std::string_view name;
    std::string_view source;
    int datapath_bits = 0;  ///< a wider instruction takes as many slots as it has datapaths
    Pipes narrow;           ///< for instructions of up to 256 bits
    Pipes wide;             ///< for instructions of 512 bits
    double bf16_dots = 0;   ///< dot-product instructions per clock
    double int8_dots = 0;
    double bf16_tile = 0;  ///< FLOPs, or operations, per clock of the matrix unit
    double int8_tile = 0;
    double load_bytes = 0;  ///< per clock, from L1
    double store_bytes = 0;
    double access_bytes = 0;  ///< loads and stores together
    double fill_bytes = 0;    ///< per clock, from L2 into L1, and as many back
};

/// Null if there is no row for this processor.
const Figures* figures_of(const Machine& machine);

/// The guide's rates for the ceilings that can be measured on this machine, under the probes' names; none for a processor without a
/// row. Needs `vendor`, `family`, `model`, `isa` and `features`.
std::vector<SpecRate> spec_rates_of(const Machine& machine);

}  // namespace roof::cpu
