// Threads that stay where they are: each on a processor of its own, so that what it touched first stays near it.
#pragma once

#include <string>
#include <vector>

namespace roof::onednn {

class PinnedThreads {
  public:
    /// The calling thread and those of its parallel regions of this size, each on one of the processors that are allowed; cores
    /// before their second hardware threads. Where fewer are allowed than there are threads, or `threads` is 0, nothing is done.
    explicit PinnedThreads(int threads);
    /// Gives every thread the processors back that were allowed before.
    ~PinnedThreads();
    PinnedThreads(const PinnedThreads&) = delete;
    PinnedThreads& operator=(const PinnedThreads&) = delete;

    bool hold() const { return !processors_.empty(); }
    /// By thread; empty if they are free.
    const std::vector<int>& processors() const { return processors_; }
    /// "threads on processors 0, 1"; "threads not pinned".
    std::string describe() const;

    /// What `work` returns. Threads that it starts may run wherever this process may.
    template <class Work>
    auto starting_free_threads(Work work) const
    {
        const Interlude interlude(*this);
        return work();
    }

  private:
    /// Frees the calling thread, and pins it again.
    class Interlude {
      public:
        explicit Interlude(const PinnedThreads& threads);
        ~Interlude();
        Interlude(const Interlude&) = delete;
        Interlude& operator=(const Interlude&) = delete;

      private:
        const PinnedThreads& threads_;
    };

    std::vector<int> allowed_;
    std::vector<int> processors_;
};

}  // namespace roof::onednn
