// A team of OpenMP threads, each pinned to its own processor while the team exists.
#pragma once

#include <functional>
#include <vector>

namespace roof::cpu {

class PinnedTeam {
  public:
    /// Thread i runs on processors[i]; the caller becomes thread 0. Throws Error, with all affinities restored, if
    /// OpenMP gives fewer threads or a processor is not allowed.
    explicit PinnedTeam(const std::vector<int>& processors);
    ~PinnedTeam();
    PinnedTeam(const PinnedTeam&) = delete;
    PinnedTeam& operator=(const PinnedTeam&) = delete;

    int size() const { return static_cast<int>(before_.size()); }

    /// Calls work(0) … work(size() - 1) concurrently, each on its thread, and waits for all. Rethrows the first
    /// exception.
    void run(const std::function<void(int thread)>& work) const;

  private:
    void restore() const;

    std::vector<std::vector<int>> before_;  ///< the processors of each thread
};

}  // namespace roof::cpu
