// What more rounds would bring, from the samples that are there.
#pragma once

#include "ert/method/bench/machine.hpp"
#include "ert/method/bench/measurement.hpp"

#include <cstddef>
#include <span>

namespace roof {

/// The ceilings that are lower bounds because too few samples were undisturbed.
struct LowerBounds {
    std::size_t ceilings = 0;
    std::size_t rounds = 0;  ///< measured so far of their points
};
LowerBounds lower_bounds(std::span<const Measurement> rows, const Machine& machine);

/// How many of them would have enough undisturbed samples if their points were measured `times` more times as often as
/// so far, and the machine stayed as busy as it was: each of their rounds then counts `times` more times.
std::size_t settled_by_more(std::span<const Measurement> rows, const Machine& machine, int times);

}  // namespace roof
