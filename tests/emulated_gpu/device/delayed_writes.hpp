// Writes of a block to global memory that other blocks do not see yet. A fence shows them to all.
#pragma once

#include "tests/emulated_gpu/device/numbers.hpp"

#include <array>
#include <cstddef>
#include <random>
#include <vector>

namespace roof::emulated {

class DelayedWrites {
  public:
    /// At most 16 bytes. If there are many, any one of them is seen first.
    void add(u64 address, const void* from, std::size_t bytes, std::mt19937& chance);
    /// To be called before the block itself reads or writes there, at most 16 bytes at a multiple of their number.
    void flush_overlapping(u64 address, std::size_t bytes)
    {
        if ((places_ & place_of(address)) != 0) search_overlapping(address, bytes);
    }
    void flush_all();

  private:
    struct Write {
        u64 address;
        std::size_t bytes;
        std::array<std::byte, 16> value;
        void perform() const;
    };
    /// One of 64 bits for the 16 bytes in which an access lies; most accesses are elsewhere than any write.
    static u64 place_of(u64 address) { return u64{1} << (address / 16 % 64); }
    void search_overlapping(u64 address, std::size_t bytes);

    std::vector<Write> writes_;
    u64 places_ = 0;  ///< of all writes, and of some that are over
};

}  // namespace roof::emulated
