// The clock readings of a launch on the emulated device.
#pragma once

#include "ert/gpu/kernels/clock_reading.hpp"
#include "tests/emulated_gpu/emulated_memory.hpp"

#include <vector>

namespace roof::gpu {

/// Every second one asks for none, as a launch may: its kernel then writes nothing.
struct Readings {
    bool is_asked = [] {
        static bool last = false;
        return last = !last;
    }();
    emulated::Array<ClockReading> array{std::vector<ClockReading>(clock_readings)};
    ClockReading* data() const { return is_asked ? array.data() : nullptr; }
    /// Each multiprocessor that wrote, of those there are, ran at the card's clock; one did at least.
    void check() const
    {
        if (!is_asked) return;
        const emulated::Card& card = emulated::machine().device(0).card;
        const std::vector<ClockReading> all = array.values();
        int written = 0;
        for (std::size_t i = 0; i < all.size(); ++i) {
            const ClockReading& one = all[i];
            INFO("multiprocessor " << i);
            if (one.last_nanosecond == 0 && one.last_cycle == 0 && one.first_cycle == ~0ULL &&
                one.first_nanosecond == ~0ULL)
                continue;
            ++written;
            REQUIRE(i < static_cast<std::size_t>(card.multiprocessors));
            REQUIRE(one.last_cycle > one.first_cycle);
            REQUIRE(one.last_nanosecond > one.first_nanosecond);
            const auto cycles = static_cast<double>(one.last_cycle - one.first_cycle);
            const double hertz = 1e9 * cycles / static_cast<double>(one.last_nanosecond - one.first_nanosecond);
            REQUIRE(hertz == Approx(card.clock_hz).epsilon(0.01 + 2 / cycles));
        }
        REQUIRE(written > 0);
    }
};

}  // namespace roof::gpu
