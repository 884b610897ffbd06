// Whether a ceiling is steady. Every interval that is too wide for its level gets a reason; a narrow one gets a reason only where
// its samples are too few.
#pragma once

#include "ert/method/ceilings/ceiling.hpp"

namespace roof {

/// The largest half-width of an interval, as a share of the rate, that counts as one rate: 1% for the core, L1 and L2; 3% for
/// levels that carry other cores' traffic.
double tolerance_of(std::string_view level);

/// Whether the level's rate is proportional to the core's clock: true for the core and its caches, not for memory and paths.
bool scales_with_clock(std::string_view level);

/// The steadiness of a ceiling whose rate, interval, modes and rate per clock are final.
Steadiness steadiness_of(const Ceiling& ceiling);

/// Whether a core-to-core ceiling shows two times far apart. That happens where a host moves its guest's vCPUs, which then share
/// a last cache only some of the time.
bool shows_two_distances(const Ceiling& ceiling);

}  // namespace roof
