// A team of OpenMP threads, each kept on its own processor for as long as the team lives.
#pragma once

#include <functional>
#include <vector>

#include <sched.h>

namespace roof::cpu {

class PinnedTeam {
  public:
    /// Thread i runs on processors[i]; the caller becomes thread 0. Throws Error if OpenMP gives fewer threads or a
    /// processor is not allowed; then all affinities are as before.
    explicit PinnedTeam(const std::vector<int>& processors);
    /// Gives every thread the affinity it had before.
    ~PinnedTeam();
    PinnedTeam(const PinnedTeam&) = delete;
    PinnedTeam& operator=(const PinnedTeam&) = delete;

    int size() const { return static_cast<int>(before_.size()); }

    /// Calls work(0) … work(size() - 1) at once, each on its thread, and returns when all have. The first exception
    /// thrown by any of them is thrown again here.
    void run(const std::function<void(int thread)>& work) const;

  private:
    void restore() const;

    std::vector<cpu_set_t> before_;  ///< one for each thread
};

}  // namespace roof::cpu
