// Counters of this process: every event of each thread there is, from start() to stop().
#pragma once

#include "cpu/counters/encode.hpp"

#include <span>
#include <vector>

namespace roof::cpu {

/// What an event came to. Where there are more events than counters the kernel takes turns, and `value` is scaled up.
struct EventCount {
    double value = 0;
    double share_of_time = 0;  ///< that it was counted for; 1: the value is exact, 0: it was never counted
};

class ProcessCounters {
  public:
    /// Of the threads there are now: those that are started later are not counted. Throws Unsupported with the kernel's reason:
    /// ENOENT where there is no such event, EACCES where the process may not count.
    explicit ProcessCounters(std::span<const EventCode> events);
    ~ProcessCounters();
    ProcessCounters(const ProcessCounters&) = delete;
    ProcessCounters& operator=(const ProcessCounters&) = delete;

    /// From zero.
    void start();
    void stop();

    /// In the order of the events, over all threads.
    std::vector<EventCount> counts() const;

  private:
    void open(const EventCode& event, std::vector<int>& descriptors);
    void close();

    std::vector<std::vector<int>> descriptors_;  ///< of each event, one for each thread
};

}  // namespace roof::cpu
