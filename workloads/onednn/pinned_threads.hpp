// Keeps threads on processors, so that memory that a thread touched first stays local to it.
#pragma once

#include "ert/base/processors.hpp"
#include "workloads/parallel/place.hpp"

#include <string>
#include <vector>

namespace roof::onednn {

class PinnedThreads {
  public:
    /// Pins the calling thread and those of its parallel regions of this size to one processor each, cores before their
    /// second hardware threads. Does nothing for 0 threads, or with fewer allowed processors.
    explicit PinnedThreads(int threads);
    /// Restricts the calling thread and `threads` of its parallel regions to the rank's processors, if roof started it.
    PinnedThreads(const parallel::Place& place, int threads);
    /// Restores the previous affinity of every thread.
    ~PinnedThreads();
    PinnedThreads(const PinnedThreads&) = delete;
    PinnedThreads& operator=(const PinnedThreads&) = delete;

    bool hold() const { return !processors_.empty(); }
    /// Processor per thread; empty if threads are not pinned.
    const std::vector<int>& processors() const { return processors_; }
    /// "threads on processors 0, 1"; "threads not pinned".
    std::string describe() const;

    /// Returns the result of `work`. Threads that it starts may run on all processors of this process.
    template <class Work>
    auto starting_free_threads(Work work) const
    {
        if (hold()) keep_thread_to(allowed_);
        auto made = work();
        if (hold()) keep_thread_to({processors_.front()});
        return made;
    }

  private:
    void keep_threads_to(const std::vector<int>& cpus) const;

    int threads_ = 0;  ///< restricted ones
    std::vector<int> allowed_;
    std::vector<int> processors_;
};

}  // namespace roof::onednn
