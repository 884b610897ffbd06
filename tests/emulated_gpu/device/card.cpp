#include "tests/emulated_gpu/device/card.hpp"

namespace roof::emulated {

Card small_h100()
{
    // From the sheet of the H100 SXM: 132 multiprocessors at 1755 MHz, 3.35 TB/s, a link of 64 GB/s; the L2 by gpu-benches.
    constexpr double share = 2.0 / 132;
    constexpr double clock = 1.755e9;
    Card card;
    card.name = "Emulated H100 (2 of 132 multiprocessors; not a measurement)";
    card.clock_hz = clock / 200;
    card.l2_bytes_per_cycle = share * 5.5e12 / clock;
    card.memory_bytes_per_cycle = share * 3.35e12 / clock;
    card.link_bytes_per_cycle = share * 64e9 / clock;
    return card;
}

}  // namespace roof::emulated
