// The CPU's profiler: FLOPs and cache lines of a training step and of each of its parts, from the processor's events.
#pragma once

#include "cpu/counters/encode.hpp"
#include "cpu/counters/event_tables.hpp"
#include "ert/method/bench/profiler.hpp"

#include <span>
#include <string>
#include <vector>

namespace roof::cpu {

// Event counters of this process: every event on every existing thread, from start() to stop().

/// The count of one event. If there are more events than counters, the kernel multiplexes and `value` is scaled up.
struct EventCount {
    double value = 0;
    double share_of_time = 0;  ///< share of the time it was counted; 1: `value` is exact, 0: never counted
};

class ProcessCounters {
  public:
    /// Counts the threads that exist now, not those started later; with `children` also the processes and threads that
    /// these start later. Throws Unsupported with the kernel's reason: ENOENT if there is no such event, EACCES if the
    /// process may not count.
    explicit ProcessCounters(std::span<const EventCode> events, bool children = false);
    ~ProcessCounters();
    ProcessCounters(const ProcessCounters&) = delete;
    ProcessCounters& operator=(const ProcessCounters&) = delete;

    void start();
    void stop();

    /// The counts, summed over threads, in the order of the events.
    std::vector<EventCount> counts() const;

  private:
    void open(const EventCode& event, bool children, std::vector<int>& descriptors);
    void close();

    std::vector<std::vector<int>> descriptors_;  ///< per event, one for each thread
};

struct NamedEvent {
    std::string name;
    EventCode code;
    Counts counts = Counts::any;
    double each = 1;
};

/// Counts these events in every traced launch. Writes means per launch for the step and each part: the raw counts, and
/// the FLOPs and bytes derived from them. `programs`: also in the programs that a launch starts. Throws Unsupported if
/// the process may not count.
Profile count_events(const std::vector<NamedEvent>& events, const std::vector<TimedPart>& parts, bool programs = false);

/// A profiler with the event table of this machine's processor. Attaching it to a subject reports why counting is
/// impossible.
Profiler step_counters(const Machine& machine);

}  // namespace roof::cpu
