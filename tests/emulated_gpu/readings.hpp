// The clock readings of a launch on the emulated device.
#pragma once

#include "ert/gpu/kernels/clock_reading.hpp"
#include "tests/emulated_gpu/emulated_memory.hpp"

#include <vector>

namespace roof::gpu {

/// Multiprocessors are numbered from `first_multiprocessor` on. By default that is the last number that has a reading:
/// so the first one has it, and the second has none.
class Readings {
  public:
    explicit Readings(unsigned first_multiprocessor = clock_readings - 1) : first_(first_multiprocessor)
    {
        card().first_multiprocessor = first_;
    }
    ~Readings() { card().first_multiprocessor = 0; }
    Readings(const Readings&) = delete;
    Readings& operator=(const Readings&) = delete;

    ClockReading* data() const { return array_.data(); }
    /// The number of the first multiprocessor, now.
    unsigned first() const { return first_; }
    /// Each multiprocessor that wrote, of those there are, ran at the card's clock; one did at least.
    void check() const
    {
        const std::vector<ClockReading> all = array_.values();
        int written = 0;
        for (std::size_t i = 0; i < all.size(); ++i) {
            const ClockReading& one = all[i];
            INFO("multiprocessor " << i);
            if (one.last_nanosecond == 0 && one.last_cycle == 0 && one.first_cycle == ~0ULL &&
                one.first_nanosecond == ~0ULL)
                continue;
            ++written;
            REQUIRE(i >= first_);
            REQUIRE(i < first_ + static_cast<std::size_t>(card().multiprocessors));
            REQUIRE(i < clock_readings);
            REQUIRE(one.last_cycle > one.first_cycle);
            REQUIRE(one.last_nanosecond > one.first_nanosecond);
            const auto cycles = static_cast<double>(one.last_cycle - one.first_cycle);
            const double hertz = 1e9 * cycles / static_cast<double>(one.last_nanosecond - one.first_nanosecond);
            REQUIRE(hertz == Approx(card().clock_hz).epsilon(0.01 + 2 / cycles));
        }
        REQUIRE(written > 0);
    }

  private:
    static emulated::Card& card() { return emulated::machine().device(0).card; }

    unsigned first_;
    emulated::Array<ClockReading> array_{std::vector<ClockReading>(clock_readings + 4)};
};

}  // namespace roof::gpu
