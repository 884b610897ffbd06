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
    /// To be called before the block itself reads or writes there.
    void flush_overlapping(u64 address, std::size_t bytes)
    {
        if (!writes_.empty()) search_overlapping(address, bytes);
    }
    void flush_all();

  private:
    struct Write {
        u64 address;
        std::size_t bytes;
        std::array<std::byte, 16> value;
        void perform() const;
    };
    void search_overlapping(u64 address, std::size_t bytes);

    std::vector<Write> writes_;
};

}  // namespace roof::emulated
