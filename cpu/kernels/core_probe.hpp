// Loops that tell how a core is doing, each in some microseconds: a chain of dependent multiplications, whose latency is a whole
// number of clocks and so shows the clock; and additions that depend on nothing, whose number per clock falls when another
// hardware thread (a neighbour's, perhaps, whom no counter of ours sees) shares the core's issue slots.
//
// A neighbour holds up a chain, too, now and then by a clock. A chain of additions, one in every clock, loses each of these clocks;
// one of multiplications, of which one in three clocks is to be issued, loses a third as many. But how many clocks a
// multiplication takes is the core's secret, and the additions are there to tell it.
#pragma once

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

/// Of a dependent multiplication: its time over that of a dependent addition, which takes one. 0 if that is no whole number.
/// Measured, in about a millisecond, on whatever core it runs; the same in all later calls.
int clocks_of_multiplication();

}  // namespace roof::cpu
