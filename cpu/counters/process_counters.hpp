// Event counters of this process: every event on every existing thread, from start() to stop().
#pragma once

#include "cpu/counters/encode.hpp"

#include <span>
#include <vector>

namespace roof::cpu {

/// The count of one event. If there are more events than counters, the kernel multiplexes and `value` is scaled up.
struct EventCount {
    double value = 0;
    double share_of_time = 0;  ///< share of the time it was counted; 1: `value` is exact, 0: never counted
};

class ProcessCounters {
  public:
    /// Counts the threads that exist now, not those started later; with `children` also the processes and threads that these start
    /// later. Throws Unsupported with the kernel's reason: ENOENT
    /// if there is no such event, EACCES if the process may not count.
    explicit ProcessCounters(std::span<const EventCode> events, bool children = false);
    ~ProcessCounters();
    ProcessCounters(const ProcessCounters&) = delete;
    ProcessCounters& operator=(const ProcessCounters&) = delete;

    /// Resets the counters to zero and starts them.
    void start();
    void stop();

    /// The counts, summed over threads, in the order of the events.
    std::vector<EventCount> counts() const;

  private:
    void open(const EventCode& event, bool children, std::vector<int>& descriptors);
    void close();

    std::vector<std::vector<int>> descriptors_;  ///< per event, one for each thread
};

}  // namespace roof::cpu
