// The bottleneck of a piece of work, and its confidence. The rates of the roofs are known as intervals, so the
// binding roof is determined for many random sets of roofs. If no roof binds in 95% of them, both candidates are
// named with their shares.
//   A random rate is median * exp(z * s), with z standard normal, s = ln(high / median) / 1.96 above the median and
//   ln(median / low) / 1.96 below it (Known: measured, by the intervals of the calibration). Roofs are independent of
//   each other; all work of a row uses the same draw. The draws are the same in every run.
// Traffic is compulsory, as in place.hpp.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace roof::analysis {

struct Placement;
struct Roofs;

/// A roof, and the share of the draws in which it binds.
struct Bottleneck {
    std::string roof;
    double share = 0;
};

inline constexpr double confident_share = 0.95;
inline constexpr int draws = 1000;

/// Sets the bottlenecks of the placements of one row (step, phases, layers, in that order), the most likely first.
void find_bottlenecks(std::span<Placement> placements, const Roofs& roofs);

/// "DRAM", or "DRAM mix 2:1" with the access of its roof if that is known; "fp32 or DRAM (71 / 29%)" if neither is confident; empty
/// without ceilings.
std::string bottleneck_text(const Placement& placement);

/// Whether one roof binds in at least 95% of the draws.
bool is_confident(const Placement& placement);

}  // namespace roof::analysis
