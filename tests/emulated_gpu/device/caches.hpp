// Which lines the caches of a device hold, for the emulated time alone. Direct-mapped by the address.
#pragma once

#include "tests/emulated_gpu/device/card.hpp"
#include "tests/emulated_gpu/device/numbers.hpp"

#include <vector>

namespace roof::emulated {

class Caches {
  public:
    explicit Caches(const Card& card);

    /// The cycles of an access while `parallel` others are under way. The line is then in the L2, and in the L1 unless
    /// it is passed over.
    double cycles_of(u64 address, std::size_t bytes, u32 multiprocessor, bool past_l1, double parallel);

  private:
    static constexpr u64 line = 128;
    static bool hit_and_fill(std::vector<u64>& lines, u64 number);

    Card card_;
    std::vector<std::vector<u64>> l1_;  ///< [multiprocessor][line]
    std::vector<u64> l2_;
};

}  // namespace roof::emulated
