#include "tests/emulated_gpu/device/address_space.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace roof::emulated {

void* AddressSpace::allocate(std::size_t bytes, int device)
{
    constexpr std::size_t alignment = 256;
    constexpr int junk = 0xA5;
    auto memory = std::unique_ptr<std::byte[]>(new std::byte[bytes + alignment]);
    const auto begin = (reinterpret_cast<std::uintptr_t>(memory.get()) + alignment - 1) / alignment * alignment;
    std::memset(reinterpret_cast<void*>(begin), junk, bytes);
    allocations_[begin] = {std::move(memory), {begin, begin + bytes, device}};
    most_[device] = std::max(most_[device], allocated(device));
    return reinterpret_cast<void*>(begin);
}

bool AddressSpace::free(void* memory)
{
    return allocations_.erase(reinterpret_cast<std::uintptr_t>(memory)) == 1;
}

std::size_t AddressSpace::allocated(int device) const
{
    std::size_t bytes = 0;
    for (const auto& [begin, allocation] : allocations_) {
        if (allocation.range.device == device) bytes += allocation.range.end - begin;
    }
    return bytes;
}

AddressSpace::Range AddressSpace::find(std::uintptr_t address, std::size_t bytes) const
{
    const auto after = allocations_.upper_bound(address);
    if (after == allocations_.begin()) return {};
    const Range& range = std::prev(after)->second.range;
    return range.contains(address, bytes) ? range : Range{};
}

}  // namespace roof::emulated
