// Loops of some microseconds that show the state of a core. A chain of dependent multiplications, whose latency is a whole number of
// clocks, shows the clock. Independent additions show sharing: fewer are done per clock when another hardware thread, such as a
// neighbour's, uses the core's issue slots.
//
// A neighbour also delays a chain now and then by a clock. A chain of additions, one per clock, loses each of these clocks; a chain
// of multiplications, one per three clocks, loses a third of them. The latency of a multiplication differs between cores; it is
// measured against additions.
#pragma once

#include "ert/method/bench/clock.hpp"

#include <cstddef>

#include <xbyak/xbyak.h>

namespace roof::cpu {

class CoreProbe : Xbyak::CodeGenerator {
  public:
    enum class Kind { additions, multiplications, independent };

    explicit CoreProbe(Kind kind);

    /// 64-bit operations of one iteration.
    static constexpr int operations = 120;

    /// `iterations`: at least 1.
    void run(std::size_t iterations) const { getCode<void (*)(std::size_t)>()(iterations); }
};

/// The latency of a multiplication in clocks: its time over that of a dependent addition, which takes one. 0 if that is not close to
/// a whole number. Measured once, in about a millisecond, on the calling thread's core.
int clocks_of_multiplication(const Clock& clock);

}  // namespace roof::cpu
