// Which lines the caches of a device hold, for the emulated time alone. Direct-mapped by the address.
#pragma once

#include "tests/emulated_gpu/device/card.hpp"
#include "tests/emulated_gpu/device/numbers.hpp"

#include <algorithm>
#include <vector>

namespace roof::emulated {

class Caches {
  public:
    /// The lines of both caches become powers of two.
    explicit Caches(const Card& card);

    /// From now on `parallel` accesses are under way at a time: they share their latencies.
    void expect(double parallel);
    /// The seconds of an access. The line is then in the L2, and in the L1 unless it is passed over.
    double seconds_of(u64 address, std::size_t bytes, u32 multiprocessor, bool past_l1)
    {
        const u64 number = address / line;
        const auto size = static_cast<double>(bytes);
        if (!past_l1 && hit_and_fill(l1_[multiprocessor * l1_lines_ + (number & (l1_lines_ - 1))], number))
            return first_.of(size);
        return hit_and_fill(l2_[number & (l2_.size() - 1)], number) ? second_.of(size) : memory_.of(size);
    }

  private:
    /// As wide as the widest access, not as a real line: of such one, the neighbours of the first would come for
    /// nothing.
    static constexpr u64 line = 16;
    struct Cost {
        double byte = 0;   ///< seconds
        double least = 0;  ///< seconds of an access
        double of(double bytes) const { return std::max(bytes * byte, least); }
    };
    static bool hit_and_fill(u64& there, u64 number)
    {
        if (there == number) return true;
        there = number;
        return false;
    }

    Card card_;
    u64 l1_lines_;
    std::vector<u64> l1_;  ///< of one multiprocessor after another
    std::vector<u64> l2_;
    Cost first_, second_, memory_;
};

}  // namespace roof::emulated
