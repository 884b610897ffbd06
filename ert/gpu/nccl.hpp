// NCCL, NVIDIA's library of collective operations, opened at run time: it is hundreds of megabytes, and one GPU does
// not need it.
#pragma once

#include "ert/base/units.hpp"
#include "ert/gpu/library.hpp"

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

struct ncclComm;

namespace roof::gpu {

/// How many times its message each rank must send, and receive, in an all-reduce in which the ranks do the sums.
/// Message over time (algorithm bandwidth) times this factor is what a rank's links carry each way (bus bandwidth).
/// Derived in docs/gpu.md. 0 for one rank.
constexpr double bus_factor(int ranks)
{
    return 2.0 * (ranks - 1) / ranks;
}

class Nccl {
  public:
    /// The first of `names` that the loader finds; null if the library is missing.
    static std::shared_ptr<const Nccl> open(const std::vector<std::string>& names = {"libnccl.so.2", "libnccl.so"});

    /// "2.28.9". Throws Error.
    std::string version() const;
    /// Calls its function of this name with arguments of exactly its types. Throws Error, but not where the call is
    /// still in progress.
    template <class... Arguments>
    void call(const char* name, Arguments... arguments) const
    {
        check(library_.function<int(Arguments...)>(name)(arguments...), name);
    }
    /// Ranks of one thread are called in a group: outside of it the first call would wait for the others. Throws Error.
    void grouped(const std::function<void()>& calls) const;
    /// Throws Error with the words for a status.
    void check(int status, const std::string& what) const;

  private:
    explicit Nccl(Library library) : library_(library) {}

    Library library_;
};

/// Whom all ranks of a communicator have heard of before they join. NCCL takes it by value.
struct UniqueId {
    std::array<char, 128> bytes{};
};

/// Called again and again while NCCL waits for other ranks, with the time so far. Throws to give up.
using WhileWaiting = std::function<void(Seconds waited)>;

/// Waits, with pauses, while `goes_on`. Throws what either throws.
void wait_while(const std::function<bool()>& goes_on, const WhileWaiting& while_waiting);

/// One rank of a communicator. Its calls do not wait for other ranks: await() does, after each call, and can be ended.
class NcclRank {
  public:
    /// Begins to join on the current device. `waits`: calls wait, without an end, and cost less: NCCL makes a thread
    /// for each that does not. Throws Error, also where NCCL is older than 2.14.
    NcclRank(std::shared_ptr<const Nccl> library, int ranks, UniqueId id, int rank, bool waits = false);
    /// Aborts what has not left.
    ~NcclRank();
    NcclRank(NcclRank&& other) noexcept
        : library_(std::move(other.library_)), comm_(std::exchange(other.comm_, nullptr))
    {
    }
    NcclRank& operator=(NcclRank&&) = delete;

    ncclComm* get() const { return comm_; }
    /// Until the last call is over. Throws Error where it failed, and what `while_waiting` throws.
    void await(const WhileWaiting& while_waiting) const;
    bool is_in_progress() const;
    /// Waits until the other ranks leave, too. Throws as await().
    void leave(const WhileWaiting& while_waiting);
    /// Ends enqueued communication without the other ranks. Nothing may be called afterwards.
    void abort();

  private:
    int state() const;

    std::shared_ptr<const Nccl> library_;
    ncclComm* comm_ = nullptr;
};

}  // namespace roof::gpu
