// FLOPs and lines of a training step and of each of its parts by the processor's own events: the CPU's profiler.
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

/// Counts these events in every launch that is traced. Written are means over those launches, of the step and of each part: the
/// events as they were counted, and what they come to, in FLOPs and bytes. Throws Unsupported where the process may not count.
Profile count_events(const std::vector<NamedEvent>& events, const std::vector<TimedPart>& parts);

/// With the table of this machine's processor. What hinders it is said when it is attached to a subject.
Profiler step_counters(const Machine& machine);

}  // namespace roof::cpu
