// The shares of several processes that measure a step one after another, and their rows as one.
#pragma once

#include "ert/method/bench/measurement.hpp"
#include "ert/method/plan/plan.hpp"

namespace roof {

/// The share of each process; and whether that holds six steps as long as this one, the fewest of an interval.
StoppingOptions of_one_process(StoppingOptions all);
bool has_several_processes(const StoppingOptions& options, Seconds step);

/// The time of a step over the used samples of one process, whose interval is spread_in_time().
Estimate<Seconds> time_of_step(const std::vector<Sample>& samples);

/// One row of those of several processes, at least one, with the same parts. Its times are the means of the processes' medians, with
/// Student's interval: launches of one process share its pages, so processes and not launches are the independent observations.
Measurement over_processes(const std::vector<Measurement>& rows);

}  // namespace roof
