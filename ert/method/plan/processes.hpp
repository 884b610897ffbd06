// The shares of several processes that measure a step one after another, and their rows as one.
#pragma once

#include "ert/method/bench/measurement.hpp"
#include "ert/method/plan/plan.hpp"

namespace roof {

/// The share of each process; and whether that holds six steps as long as this one, the fewest of an interval.
StoppingOptions of_one_process(StoppingOptions all);
bool has_several_processes(const StoppingOptions& options, Seconds step);

/// Whether no further process is needed. Without `max_noise`: after `processes`. With it: of 6, 12 and 24 processes the
/// first whose interval's half-width over the mean is at most `max_noise`; 24 always are.
bool has_enough_processes(const std::vector<Measurement>& rows, const StoppingOptions& options);
int most_processes(const StoppingOptions& options);

/// The time of a step over the used samples of one process, whose interval is spread_in_time().
Estimate<Seconds> time_of_step(const std::vector<Sample>& samples);

/// One row of those of several processes, at least one, with the same parts. Its times are the means of the processes'
/// medians, with Student's interval: launches of one process share its pages, so processes and not launches are the
/// independent observations. `is_looked_at`: by has_enough_processes(), whose looks the interval pays for: each takes a
/// third of the 5%.
Measurement over_processes(const std::vector<Measurement>& rows, bool is_looked_at = false);

}  // namespace roof
