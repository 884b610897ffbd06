// Threads pinned to a processor each, so that memory that a thread touched first stays near it.
#pragma once

#include <string>
#include <vector>

namespace roof::onednn {

class PinnedThreads {
  public:
    /// Pins the calling thread and the threads of its parallel regions of this size to a processor each, cores before
    /// their second hardware threads. Does nothing where fewer processors are allowed than there are threads, or
    /// `threads` is 0.
    explicit PinnedThreads(int threads);
    /// Allows every thread the processors of before.
    ~PinnedThreads();
    PinnedThreads(const PinnedThreads&) = delete;
    PinnedThreads& operator=(const PinnedThreads&) = delete;

    bool hold() const { return !processors_.empty(); }
    /// By thread; empty where nothing is pinned.
    const std::vector<int>& processors() const { return processors_; }
    /// "threads on processors 0, 1"; "threads not pinned".
    std::string describe() const;

    /// Returns the result of `work`. Threads that it starts may run on all processors of this process.
    template <class Work>
    auto starting_free_threads(Work work) const
    {
        const UnpinnedScope scope(*this);
        return work();
    }

  private:
    /// Frees the calling thread, and pins it again.
    class UnpinnedScope {
      public:
        explicit UnpinnedScope(const PinnedThreads& threads);
        ~UnpinnedScope();
        UnpinnedScope(const UnpinnedScope&) = delete;
        UnpinnedScope& operator=(const UnpinnedScope&) = delete;

      private:
        const PinnedThreads& threads_;
    };

    std::vector<int> allowed_;
    std::vector<int> processors_;
};

}  // namespace roof::onednn
