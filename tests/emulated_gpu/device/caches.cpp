#include "tests/emulated_gpu/device/caches.hpp"

#include <algorithm>

namespace roof::emulated {

Caches::Caches(const Card& card)
    : card_(card),
      l1_(static_cast<std::size_t>(card.multiprocessors), std::vector<u64>(card.l1_bytes / line)),
      l2_(card.l2_bytes / line)
{
}

bool Caches::hit_and_fill(std::vector<u64>& lines, u64 number)
{
    u64& there = lines[number % lines.size()];
    if (there == number) return true;
    there = number;
    return false;
}

double Caches::cycles_of(u64 address, std::size_t bytes, u32 multiprocessor, bool past_l1, double parallel)
{
    const u64 number = address / line;
    const auto size = static_cast<double>(bytes);
    const Card& card = card_;
    if (!past_l1 && hit_and_fill(l1_[multiprocessor], number))
        return std::max(size / (card.l1_bytes_per_cycle * card.multiprocessors), card.l1_latency_cycles / parallel);
    if (hit_and_fill(l2_, number)) return std::max(size / card.l2_bytes_per_cycle, card.l2_latency_cycles / parallel);
    return std::max(size / card.memory_bytes_per_cycle, card.memory_latency_cycles / parallel);
}

}  // namespace roof::emulated
