// The shared memory of a block, with who accessed each word last, so that two accesses that no barrier orders are
// found whatever the order of the threads was.
#pragma once

#include "tests/emulated_gpu/device/numbers.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace roof::emulated {

/// When a thread accesses: barriers of its block, its warp and its cluster that it has passed, and its fences between
/// the proxies.
struct Moment {
    u16 thread = 0;
    u16 warp_barriers = 0;
    u32 barriers = 0;
    u32 proxy_fences = 0;
    u32 cluster_barriers = 0;
};

/// Whether no barrier lies between the two, of one block.
bool races(const Moment& a, const Moment& b);

class SharedMemory {
  public:
    explicit SharedMemory(std::size_t bytes);

    std::size_t size() const { return size_; }
    /// Nobody has accessed it, and its content is junk.
    void begin();
    /// Throws Fault for an address outside, or not a multiple of the bytes (at most 16) of the access.
    std::byte* at(u32 address, std::size_t bytes) const;

    /// To be called before an access of a thread. Throws Fault if it races with another.
    void read_by(const Moment& moment, u32 address, std::size_t bytes);
    void written_by(const Moment& moment, u32 address, std::size_t bytes);

    /// Of a copy or a tensor core that a thread tells to read or write: throws Fault if another one has accessed the
    /// bytes and no barrier lies between, if what was written is not visible to such a reader, or if another copy is
    /// still at work there. `fences` by thread.
    void begin_async(const Moment& moment, u32 address, std::size_t bytes, bool writes,
                     const std::vector<u32>& proxy_fences);
    void end_async(u32 address, std::size_t bytes, bool writes);
    /// Throws Fault if the bytes hold what a thread wrote and has not fenced for tensor cores, or what no barrier
    /// orders, or are still to arrive. Where several threads begin the reading together, `moment` is of `several`.
    void read_by_tensor_core(const Moment& moment, u32 address, std::size_t bytes,
                             const std::vector<u32>& proxy_fences) const;
    static constexpr u16 several = 0xFFFE;

  private:
    static constexpr u16 nobody = 0xFFFF;
    static constexpr std::size_t word = 4;
    struct Access {
        Moment moment{.thread = nobody};
        u8 bytes = 0;  ///< of the word, one bit each
    };
    struct Cell {
        Access write, read;
        u8 async_reads = 0, async_writes = 0;
    };
    template <class Call>
    void each_cell(u32 address, std::size_t bytes, const Call& call);

    std::size_t size_;
    std::unique_ptr<std::byte[]> memory_;
    std::byte* begin_;
    std::vector<Cell> cells_;
};

}  // namespace roof::emulated
