// Two loops that tell how a core is doing, each in some microseconds: a chain of dependent additions, which takes one clock
// each and so shows the clock; and additions that depend on nothing, whose number per clock falls when another hardware
// thread (a stranger's, perhaps, whom no counter of ours sees) shares the core's issue slots.
#pragma once

#include <cstddef>

#include <xbyak/xbyak.h>

namespace roof::cpu {

class CoreProbe : Xbyak::CodeGenerator {
  public:
    enum class Kind { chain, independent };

    explicit CoreProbe(Kind kind);

    /// 64-bit additions of one iteration.
    static constexpr int additions = 120;

    /// `iterations`: at least 1.
    void run(std::size_t iterations) const { getCode<void (*)(std::size_t)>()(iterations); }
};

}  // namespace roof::cpu
