// The time-based roofline: what each of the two roofs over a piece of work would need alone.
#pragma once

#include "analysis/roofline/place.hpp"

namespace roof::analysis {

struct Needs {
    Seconds memory;   ///< compulsory bytes over the farthest level's roof; 0 without one
    Seconds compute;  ///< executed FLOPs over the compute roof; 0 without one
};

/// Of a placement that has levels.
Needs needs_of(const Placement& p);

}  // namespace roof::analysis
