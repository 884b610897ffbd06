// The memory that kernels may access: what was allocated, to the byte. A device address is the host's address.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>

namespace roof::emulated {

class AddressSpace {
  public:
    /// `device`: its owner, or `host` for memory of the host that all devices may access.
    static constexpr int host = -1;

    /// Aligned to 256 bytes. The content is not zero, so that a read of what nobody wrote shows.
    void* allocate(std::size_t bytes, int device);
    /// Returns false for what was not allocated here. The host's pages come back to the system at once.
    bool free(void* memory);
    /// The bytes of a live allocation of the device.
    std::size_t allocated(int device) const;
    /// The most that they have been.
    std::size_t most_allocated(int device) const { return most_.contains(device) ? most_.at(device) : 0; }

    struct Range {
        std::uintptr_t begin = 1;
        std::uintptr_t end = 0;
        int device = host;
        bool contains(std::uintptr_t address, std::size_t bytes) const
        {
            return address >= begin && address + bytes <= end;
        }
    };
    /// The allocation in which the bytes lie, or an empty one.
    Range find(std::uintptr_t address, std::size_t bytes) const;

  private:
    struct Allocation {
        std::unique_ptr<std::byte[]> memory;
        Range range;
    };
    std::map<std::uintptr_t, Allocation> allocations_;  ///< by begin
    std::map<int, std::size_t> most_;                   ///< bytes, by device
};

}  // namespace roof::emulated
