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
    void free(u32 first, u32 count);
    bool is_free() const { return taken_ == 0; }
    /// Throws Fault if the cell was not allocated.
    u32& at(u32 lane, u32 column);

  private:
    u32 taken_ = 0;
    std::vector<u32> cells_;  ///< [lane][column]
};

}  // namespace roof::emulated
