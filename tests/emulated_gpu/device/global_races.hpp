// Finds two accesses to a word of global memory in one launch that nothing orders, whatever the order in which the
// threads ran: neither a barrier of their block nor, between blocks, a fence and an atomic access before which the one
// and after which the other thread fences. The launch before and after orders everything else.
#pragma once

#include "tests/emulated_gpu/device/shared_memory.hpp"

#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

namespace roof::emulated {

class GlobalRaces {
  public:
    enum class Kind { read, write, atomic };

    /// A block of the grid begins on the place of one that is over.
    void begin(u32 block, u32 threads);
    /// Throws Fault if the access races with an earlier one.
    void access(u32 block, const Moment& moment, Kind kind, u64 address, std::size_t bytes);
    void fence(u32 block, const Moment& moment);
    /// All threads of the block have met.
    void barrier(u32 block);

  private:
    /// The accesses of a thread's block that come before its atomic access. They are over for each thread that reads
    /// the result.
    struct Told {
        std::shared_ptr<const std::vector<u32>> fences;  ///< of each thread of the block, at its last barrier
        u32 own_fences = 0;                              ///< of the thread
        u32 barriers = 0;                                ///< that the block had passed at the thread's last fence
    };
    using Heard = std::map<std::pair<u32, u16>, Told>;  ///< by block and thread
    struct Listener {
        Heard unfenced, heard;  ///< before and after a fence
    };
    struct BlockState {
        std::vector<u32> fences;  ///< by thread
        std::vector<u32> barriers_at_fence;
        std::shared_ptr<const std::vector<u32>> fences_at_barrier;
        std::map<u16, Listener> threads;
        Listener all;  ///< what all threads have heard by the last barrier
    };
    struct Access {
        bool is_any = false, is_atomic = false;
        u32 block = 0, fences = 0;
        Moment moment;
        u8 bytes = 0;  ///< of the word, one bit each
    };
    struct Cell {
        Access write, read;
    };
    bool is_over(const Access& former, u32 block, const Moment& now) const;
    void tell_and_hear(u32 block, const Moment& moment, u64 address);

    std::unordered_map<u32, BlockState> blocks_;
    std::unordered_map<u64, std::vector<Cell>> cells_;  ///< by page of words
    std::unordered_map<u64, Heard> told_;               ///< by the address of an atomic access
};

}  // namespace roof::emulated
