// Which roof may be said to bind a piece of work. The rates of the roofs are known by intervals only, so the question is asked
// again for many drawn sets of roofs; a bound that does not come out in 95% of them is not claimed, and both candidates are
// named with their shares.
//   A drawn rate is median * exp(z * s): z of the standard normal distribution, s = ln(high / median) / 1.96 above the median
//   and ln(median / low) / 1.96 below it (Known: measured, by the intervals of the calibration). Roofs are drawn apart from
//   each other; all work of a row is judged under the same draw. The draws are the same in every run.
// Traffic is taken as compulsory throughout, as placing takes it: a bound by reuse that fails is not in question here.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace roof::analysis {

struct Placement;
struct Roofs;

/// A roof, and the share of the draws in which it was the one that binds.
struct Bottleneck {
    std::string roof;
    double share = 0;
};

inline constexpr double confident_share = 0.95;
inline constexpr int draws = 1000;

/// Fills in the bottlenecks of the placements of one row, the likeliest first: its step, its phases and its layers in that order.
void find_bottlenecks(std::span<Placement> placements, const Roofs& roofs);

/// "DRAM"; "fp32 or DRAM (71 / 29%)" where neither survives; empty without ceilings.
std::string bottleneck_text(const Placement& placement);

/// Whether one roof came out in at least 95% of the draws.
bool is_confident(const Placement& placement);

}  // namespace roof::analysis
