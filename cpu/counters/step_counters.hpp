// The CPU's profiler: FLOPs and cache lines of a training step and of each of its parts, from the processor's events.
#pragma once

#include "cpu/counters/encode.hpp"
#include "cpu/counters/event_tables.hpp"
#include "ert/method/bench/profiler.hpp"

#include <string>
#include <vector>

namespace roof::cpu {

struct NamedEvent {
    std::string name;
    EventCode code;
    Counts counts = Counts::any;
    double each = 1;
};

/// Counts these events in every traced launch. Writes means per launch for the step and each part: the raw counts, and
/// the FLOPs and bytes derived from them. `programs`: also in the programs that a launch starts. Throws Unsupported if the process
/// may not count.
Profile count_events(const std::vector<NamedEvent>& events, const std::vector<TimedPart>& parts, bool programs = false);

/// A profiler with the event table of this machine's processor. Attaching it to a subject reports why counting is
/// impossible.
Profiler step_counters(const Machine& machine);

}  // namespace roof::cpu
