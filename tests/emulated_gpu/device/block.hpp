// A block on a multiprocessor, and when it is over, another one of the same launch: its threads, its shared and tensor
// memory, its barriers, and the copies and products that it began and that end later.
#pragma once

#include "tests/emulated_gpu/device/delayed_writes.hpp"
#include "tests/emulated_gpu/device/shared_memory.hpp"
#include "tests/emulated_gpu/device/tensor_memory.hpp"
#include "tests/emulated_gpu/device/thread.hpp"
#include "tests/emulated_gpu/device/warpgroup.hpp"

#include <functional>
#include <map>
#include <optional>
#include <random>
#include <utility>

namespace roof::emulated {

class Execution;

/// Threads that meet: of a block, a warp or a warpgroup.
struct Group {
    std::vector<Thread*> members;
    u32 arrived = 0;
    u32 meetings = 0;  ///< that are over
    int line = 0;      ///< of the first that arrived
};

/// Blocks that run at once and access one another's shared memory.
struct Cluster {
    std::vector<Block*> blocks;  ///< by rank
    u32 threads = 0;
    u32 arrived = 0;
    u32 meetings = 0;  ///< that are over
};

/// Work that a thread began and that goes on without it.
struct Copy {
    std::function<void()> read, write;  ///< the first may be empty
    bool has_read = false, has_written = false;
    bool is_in_order = false;  ///< behind the others that are: the products of a tensor core
};

/// mma.sync: the registers that the lanes brought hold a, b and the sums.
void multiply_fragments(const MmaShape& shape, const std::vector<Thread*>& lanes, std::size_t register_bytes);

class Block {
  public:
    explicit Block(Execution& execution);
    /// All is as at the beginning of a block. To be called when the threads are there and none of them runs.
    void begin(Dim place, u32 multiprocessor, std::shared_ptr<Cluster> cluster);

    Execution& execution() const { return execution_; }
    const Dim& place() const { return place_; }
    u32 multiprocessor() const { return multiprocessor_; }
    std::vector<std::unique_ptr<Thread>>& threads() { return threads_; }
    void add_thread(Dim place, Fiber& fiber);

    SharedMemory& shared() { return shared_; }
    Group& all() { return all_; }
    Group& warp_of(const Thread& thread) { return warps_[thread.warp()]; }
    Group& lanes(const Thread& thread, u32 mask);
    Group& warpgroup_of(const Thread& thread) { return warpgroups_[thread.number() / 128]; }
    Warpgroup& tensor_work_of(const Thread& thread) { return tensor_works_[thread.number() / 128]; }
    TensorMemory& tensor_memory() { return tensor_memory_; }
    Moment moment_of(const Thread& thread) const;
    Cluster& cluster() const { return *cluster_; }
    u32 rank() const { return rank_; }
    void count_barrier() { ++barriers_; }
    void count_warp_barrier(u32 warp) { ++warp_barriers_[warp]; }
    /// Which is one of each of its blocks, too.
    void count_cluster_barrier() { ++cluster_barriers_, ++barriers_; }
    void count_end() { ++ended_; }
    bool has_ended() const { return ended_ == threads_.size(); }
    void count_proxy_fence(u32 thread) { ++proxy_fences_[thread]; }
    const std::vector<u32>& proxy_fences() const { return proxy_fences_; }

    struct Mbarrier {
        u32 count = 0;
        u32 pending = 0;
        long long bytes = 0;
        u32 phase = 0;
    };
    void init_mbarrier(u32 at, u32 count);
    /// Throws Fault if there is none.
    Mbarrier& mbarrier(u32 at);
    void arrive(u32 at, u32 expected_bytes, bool counts);
    void bytes_came(u32 at, u32 bytes);

    void begin(std::shared_ptr<Copy> copy) { copies_.push_back(std::move(copy)); }
    /// Some of the work under way goes on. Returns whether any did.
    bool advance_copies(std::mt19937& chance, bool must);

    DelayedWrites& delayed() { return delayed_; }
    DelayedWrites take_delayed() { return std::exchange(delayed_, {}); }

    /// Throws Fault for what a block may not leave behind.
    void check_end() const;

  private:
    Execution& execution_;
    Dim place_;
    u32 multiprocessor_ = 0;
    SharedMemory shared_;
    std::vector<std::unique_ptr<Thread>> threads_;
    Group all_;
    std::vector<Group> warps_, warpgroups_;
    std::map<std::pair<u32, u32>, Group> lanes_;
    std::vector<Warpgroup> tensor_works_;
    TensorMemory tensor_memory_;
    std::shared_ptr<Cluster> cluster_;
    u32 rank_ = 0;
    u32 barriers_ = 0, cluster_barriers_ = 0;
    std::size_t ended_ = 0;  ///< threads
    std::vector<u16> warp_barriers_;
    std::vector<u32> proxy_fences_;
    std::map<u32, Mbarrier> mbarriers_;
    std::deque<std::shared_ptr<Copy>> copies_;
    DelayedWrites delayed_;
};

}  // namespace roof::emulated
