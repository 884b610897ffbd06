// The processes of the ranks that roof starts itself, on this machine: this program again, once per rank but the first.
#pragma once

#include "workloads/parallel/shared_memory.hpp"

#include <sys/types.h>

#include <filesystem>
#include <mutex>
#include <vector>

namespace roof::parallel {

class Processes {
  public:
    /// Starts ranks 1 and up: `program rank`, with rank, number of ranks and memory in the environment. Throws Error.
    Processes(std::shared_ptr<SharedMemory> memory, const std::filesystem::path& program);
    /// Waits a few seconds for running processes, then kills the rest.
    ~Processes();
    Processes(const Processes&) = delete;
    Processes& operator=(const Processes&) = delete;

    /// If a rank has ended, reports to all ranks which and how, unless it reported a failure itself. Callable from
    /// any thread.
    void check();

  private:
    struct Process {
        pid_t id = -1;  ///< -1: it has ended
        int rank = 0;
    };
    bool reap(Process& process) const;

    std::shared_ptr<SharedMemory> memory_;
    std::mutex mutex_;
    std::vector<Process> all_;
};

}  // namespace roof::parallel
