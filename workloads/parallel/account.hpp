// The cost of communication: exposed time, in which the step waited, and hidden time, in which it computed meanwhile.
#pragma once

#include "ert/method/bench/trace.hpp"

#include <vector>

namespace roof::parallel {

/// When something was under way, on the step's clock.
struct Interval {
    Seconds begin{};
    Seconds end{};
};

/// `transfers`: when each all-reduce (or broadcast) was under way, in any order; `waits`: when the step stood still
/// for them. Exposed: the waits. Hidden: the transfers' time outside the waits, any moment counted once. A transfer
/// lasts from when this rank is ready for it to its end, so it holds the wait for slower ranks, too.
Communication communication_of(const std::vector<Interval>& transfers, const std::vector<Interval>& waits, Bytes bytes);

}  // namespace roof::parallel
