// The tensor memory of a block (tcgen05): 128 lanes of 512 columns of 32 bits.
#pragma once

#include "tests/emulated_gpu/device/numbers.hpp"

#include <vector>

namespace roof::emulated {

class TensorMemory {
  public:
    static constexpr u32 lanes = 128;
    static constexpr u32 columns = 512;

    /// Returns the first column. Throws Fault if the number is no power of two from 32 on, or too many are taken.
    u32 allocate(u32 wanted);
    /// Throws Fault if another warp has used the memory since the last barrier of the block; `barriers`: of the block
    /// so far.
    void free(u32 first, u32 count, u32 warp, u32 barriers);
    void used_by(u32 warp, u32 barriers);
    bool is_free() const { return taken_ == 0; }
    /// Throws Fault if the cell was not allocated.
    u32& at(u32 lane, u32 column);

  private:
    u32 taken_ = 0;
    u32 barriers_ = 0;        ///< before the last use
    u32 users_ = 0;           ///< warps since then, a bit each
    std::vector<u32> cells_;  ///< [lane][column]
};

}  // namespace roof::emulated
