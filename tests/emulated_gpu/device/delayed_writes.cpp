#include "tests/emulated_gpu/device/delayed_writes.hpp"

namespace roof::emulated {

void DelayedWrites::Write::perform() const
{
    std::memcpy(reinterpret_cast<void*>(address), value.data(), bytes);
}

void DelayedWrites::add(u64 address, const void* from, std::size_t bytes, std::mt19937& chance)
{
    constexpr std::size_t most = 16;
    if (writes_.size() == most) {
        const auto which = writes_.begin() + static_cast<long>(chance() % most);
        which->perform();
        writes_.erase(which);
    }
    places_ |= place_of(address);
    writes_.push_back({address, bytes, {}});
    std::memcpy(writes_.back().value.data(), from, bytes);
}

void DelayedWrites::search_overlapping(u64 address, std::size_t bytes)
{
    std::erase_if(writes_, [&](const Write& write) {
        if (write.address >= address + bytes || address >= write.address + write.bytes) return false;
        write.perform();
        return true;
    });
    places_ = 0;
    for (const Write& write : writes_) places_ |= place_of(write.address);
}

void DelayedWrites::flush_all()
{
    for (const Write& write : writes_) write.perform();
    writes_.clear();
    places_ = 0;
}

}  // namespace roof::emulated
