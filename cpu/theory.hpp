// Rates per clock and core of each microarchitecture, from the vendors' guides. They are not measured. Ceilings are
// compared with them, and a ceiling above its guide's rate is a measurement error.
#pragma once

#include "ert/method/bench/machine.hpp"

#include <string_view>
#include <vector>

namespace roof::cpu {

/// Floating-point instructions that can start per clock. 0: unknown.
struct Pipes {
    double fma = 0;    ///< multiply-adds, or multiplications
    double add = 0;    ///< additions
    double total = 0;  ///< both together
};

/// Figures of one core. 0: unknown.
struct Figures {
    std::string_view name;
    std::string_view source;
    int datapath_bits = 0;  ///< a wider instruction takes as many slots as datapaths
    Pipes narrow;           ///< instructions of up to 256 bits
    Pipes wide;             ///< instructions of 512 bits
    double bf16_dots = 0;   ///< dot-product instructions per clock
    double int8_dots = 0;
    double bf16_tile = 0;  ///< FLOPs or operations of the matrix unit per clock
    double int8_tile = 0;
    double load_bytes = 0;  ///< per clock, from L1
    double store_bytes = 0;
    double access_bytes = 0;  ///< loads and stores together
    double fill_bytes = 0;    ///< per clock, from L2 into L1, and the same back

    /// These figures, which another microarchitecture has too, with its own name and guide.
    constexpr Figures as(std::string_view other, std::string_view guide) const
    {
        Figures same = *this;
        same.name = other;
        same.source = guide;
        return same;
    }
};

/// The figures of this processor; null if there is no row.
const Figures* figures_of(const Machine& machine);

/// The guide's rates for the ceilings of this machine, under the probes' names; none for a processor without a row.
/// Needs `vendor`, `family`, `model`, `isa` and `features`.
std::vector<SpecRate> spec_rates_of(const Machine& machine);

}  // namespace roof::cpu
