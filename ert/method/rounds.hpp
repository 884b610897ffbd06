// Rounds: a plan may visit each item several times, the whole list once in each round, so that a disturbance that lasts for
// seconds (a neighbour on the host, a slow clock) cannot cover every visit to a point. A disturbance only ever slows; so
// the fastest visit is the nearest to what the machine can sustain, and its own samples give the interval.
#pragma once

#include "ert/method/measurement.hpp"

#include <span>
#include <vector>

namespace roof {

/// Of the visits to each point, the one with the least median time per unit of work; its `round` is taken out of the point.
/// Rows that are not ok stand only where no visit was. In order of the first visits.
std::vector<Measurement> best_of_rounds(std::span<const Measurement> rows);

}  // namespace roof
