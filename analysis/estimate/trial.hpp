// The trial of a prediction: a step of a few layers like the row's, measured when the row is predicted. It shows how
// many times the time without overlap (machine_estimate.hpp) each kind of work takes by the loops of this machine:
//   predicted = sum over kinds of (time without overlap of the row * measured / without overlap of the trial)
// The roofs and their usual rates cancel where both have the same.
#pragma once

#include "analysis/estimate/machine_estimate.hpp"
#include "ert/method/bench/measurement.hpp"
#include "ert/method/bench/point.hpp"

#include <optional>

namespace roof::analysis {

/// The request for a training step at this point, which has model, batch and precision.
EstimateRequest request_of(const Point& point);

/// The trial of a row: layers of convolutions, of tokens, or of one token over a cache, with the row's precision,
/// threads, algorithm and optimizer. nullopt for a row of several ranks or without model, batch and precision.
std::optional<Point> trial_of(const Point& row);

/// The row's time by its trial, as it was measured. nullopt where one of them has no estimate on the target, or the
/// trial was not measured.
std::optional<Seconds> predicted_by(const Measurement& trial, const MachineEstimate& row, const Target& target);

}  // namespace roof::analysis
