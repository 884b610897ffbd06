// The verdict on a ceiling: no interval too wide for its level goes without a word on why, and none that is narrow has one but
// where too few samples agree.
#pragma once

#include "ert/method/ceilings/ceiling.hpp"

namespace roof {

/// Half-width of an interval, as a share, that still is one rate: 1% of the core, L1 and L2; 3% of what neighbours' traffic is
/// part of.
double tolerance_of(const std::string& level);

/// Whether the level goes with the core's clock: the core itself, or a cache. Memory and links do not.
bool goes_with_clock(const std::string& level);

/// What a core has to itself: its arithmetic and its L1.
bool is_of_one_core(const std::string& level);

/// Of a ceiling whose rate, interval, modes and rate per clock are final.
Steadiness steadiness_of(const Ceiling& ceiling);

/// Of a handover of a line between two cores: whether it took two times far apart, as where a host moves its guest's
/// processors, which share a last cache only at times.
bool shows_two_distances(const Ceiling& ceiling);

}  // namespace roof
