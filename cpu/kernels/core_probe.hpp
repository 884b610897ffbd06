// Loops of some microseconds that show the state of a core. A chain of dependent multiplications has a latency of a
// whole number of clocks, so it shows the clock rate. Independent additions show sharing: fewer complete per clock when
// another hardware thread uses the core's issue slots.
//
// Sharing can also delay a chain by a clock. A chain of additions, one per clock, loses each of these clocks; a chain
// of multiplications, one per three clocks, loses a third of them. The latency of a multiplication differs between
// cores, so it is measured against additions.
#pragma once

#include "ert/method/bench/clock.hpp"

#include <cstddef>

#include <xbyak/xbyak.h>

namespace roof::cpu {

class CoreProbe : Xbyak::CodeGenerator {
  public:
    enum class Kind { additions, multiplications, independent };

    explicit CoreProbe(Kind kind);

    /// 64-bit operations in one iteration.
    static constexpr int operations = 120;

    /// `iterations` is at least 1.
    void run(std::size_t iterations) const { getCode<void (*)(std::size_t)>()(iterations); }
};

/// The latency of a multiplication in clocks: its time divided by that of a dependent addition, which takes one clock.
/// Returns 0 if the ratio is not close to a whole number. Takes about a millisecond on the calling thread's core.
int clocks_of_multiplication(const Clock& clock);

}  // namespace roof::cpu
