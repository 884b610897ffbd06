#include "tests/emulated_gpu/device/caches.hpp"

#include <bit>

namespace roof::emulated {

Caches::Caches(const Card& card)
    : card_(card),
      l1_lines_(std::bit_floor(card.l1_bytes / line)),
      l1_(static_cast<std::size_t>(card.multiprocessors) * l1_lines_),
      l2_(std::bit_floor(card.l2_bytes / line))
{
    expect(1);
}

void Caches::expect(double parallel)
{
    const auto cost = [&](double bytes_per_cycle, double latency_cycles) {
        return Cost{1 / (bytes_per_cycle * card_.clock_hz), latency_cycles / (parallel * card_.clock_hz)};
    };
    first_ = cost(card_.l1_bytes_per_cycle * card_.multiprocessors, card_.l1_latency_cycles);
    second_ = cost(card_.l2_bytes_per_cycle, card_.l2_latency_cycles);
    memory_ = cost(card_.memory_bytes_per_cycle, card_.memory_latency_cycles);
}

}  // namespace roof::emulated
