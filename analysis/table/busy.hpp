// What else used the machine beside a training step, and what that probably cost.
#pragma once

#include "ert/method/bench/measurement.hpp"

#include <optional>
#include <string>

namespace roof::analysis {

struct BusyCost {
    double share = 0;  ///< of the step's time
    /// measured: beside the launches of the same row during which nothing else ran. counter: the time that the kernel counted as waited and
    /// stolen.
    Known known = Known::counter;
};

/// Empty if the machine was not busy, or if what it cost is not known.
std::optional<BusyCost> busy_cost(const Measurement& row);

/// "other processes used 1.9 processors, a thread waited 45% of the time for one; about 40% of the step's time (counter)". Empty if the
/// machine was not busy.
std::string busy_text(const Measurement& row);

}  // namespace roof::analysis
