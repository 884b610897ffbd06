// The shares of several processes that measure a step one after another, and their rows as one.
#pragma once

#include "ert/method/bench/measurement.hpp"
#include "ert/method/plan/plan.hpp"

namespace roof {

/// The share of each process; and whether that holds six steps as long as this one, the fewest of an interval.
StoppingOptions of_one_process(StoppingOptions all);
bool has_several_processes(const StoppingOptions& options, Seconds step);

/// Whether the rows of so many processes are enough: all that the rule allows; with `max_noise` up to 24, of which 6, 12 and 24 are looked
/// at: the half-width of the interval, over the mean, is then at most that.
bool has_enough_processes(const std::vector<Measurement>& rows, const StoppingOptions& options);
/// The most processes.
int most_processes(const StoppingOptions& options);

/// The time of a step over the used samples of one process, whose interval is spread_in_time().
Estimate<Seconds> time_of_step(const std::vector<Sample>& samples);

/// One row of those of several processes, at least one, with the same parts. Its times are the means of the processes' medians, with
/// Student's interval: launches of one process share its pages, so processes and not launches are the independent observations.
/// `is_looked_at`: by has_enough_processes(), whose looks the interval pays for: each takes a third of the 5%.
Measurement over_processes(const std::vector<Measurement>& rows, bool is_looked_at = false);

}  // namespace roof
