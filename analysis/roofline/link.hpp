// What goes between devices that train together, and the ceiling of what carries it.
#pragma once

#include "ert/method/bench/measurement.hpp"
#include "ert/method/ceilings/ceiling.hpp"

namespace roof::analysis {

/// What each rank's link must carry each way in a step: the messages' bytes times 2(n-1)/n for an all-reduce, as a ring moves them
/// (docs/parallel.md); times 1 where parameters are broadcast and gradients reduced to one rank. 0 for one rank. Known: measured
/// messages, analytic factor.
Bytes link_bytes(const Measurement& row);

/// The fastest all-reduce that was measured between GPUs, in bytes that each one's link carries each way (`bus`). Null if there is none.
const Ceiling* link_between_gpus(const Ceilings& ceilings);

}  // namespace roof::analysis
