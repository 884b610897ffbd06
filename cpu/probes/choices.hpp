// The axes that all probes of the CPU share, and what may stand in the way of a choice on them.
#pragma once

#include "ert/method/bench.hpp"

#include <optional>
#include <string>
#include <vector>

namespace roof::cpu {

/// How long one launch of a probe should take: long beside the reading of a clock, short beside a disturbance.
inline constexpr Seconds launch_target{0.3e-3};

Axis isa_axis(std::vector<std::string> usual);
/// Usual values: one, and all this process may use.
Axis threads_axis(const Machine& machine);

/// Why the point's isa or threads cannot be had on this machine, or nothing.
std::optional<std::string> missing_isa(const Point& point, const Machine& machine);
std::optional<std::string> missing_threads(const Point& point, const Machine& machine);

bool has_feature(const Machine& machine, const std::string& feature);

/// The first processors of `all` that the point's threads run on. Throws Unsupported if there are too few.
std::vector<int> processors_for(const Point& point, const std::vector<int>& all);

}  // namespace roof::cpu
