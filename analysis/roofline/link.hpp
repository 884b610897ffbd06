// The traffic between devices that train together, and the ceiling of the link.
#pragma once

#include "ert/method/bench/measurement.hpp"
#include "ert/method/ceilings/ceiling.hpp"

namespace roof::analysis {

/// Bytes that the link of each rank carries each way in a step: the bytes of the messages times 2(n-1)/n for a ring
/// all-reduce (docs/parallel.md); times 1 if parameters are broadcast and gradients reduced to one rank. 0 for one
/// rank. Known: measured messages, analytic factor.
Bytes link_bytes(const Measurement& row);

/// The fastest measured all-reduce between GPUs, in bytes that each link carries each way (`bus`). Null if there is
/// none.
const Ceiling* link_between_gpus(const Ceilings& ceilings);

}  // namespace roof::analysis
