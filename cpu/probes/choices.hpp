// The axes that all probes of the CPU share, and why a value may be unsupported.
#pragma once

#include "cpu/buffer.hpp"
#include "cpu/noise_monitor.hpp"
#include "cpu/topology.hpp"
#include "ert/method/bench/bench.hpp"

#include <optional>
#include <string>
#include <vector>

namespace roof::cpu {

/// The target time of one launch: long compared with reading a clock, short compared with a disturbance.
inline constexpr Seconds launch_target{0.3e-3};

Axis isa_axis(std::vector<std::string> usual);
/// Defaults: one, and all that this process may use.
Axis threads_axis(const Machine& machine);

/// Which hardware threads are used; by default one of every core before a second of any.
Axis placement_axis();
/// The pages that memory is mapped with; by default huge ones, where the system grants them.
Axis pages_axis();

/// Why the point's isa, threads or placement is unsupported on this machine, or nothing.
std::optional<std::string> missing_isa(const Point& point, const Machine& machine);
std::optional<std::string> missing_threads(const Point& point, const Machine& machine);
/// Nothing for a point without the axis.
std::optional<std::string> missing_siblings(const Point& point, const Machine& machine);

/// `their_own` if no two threads run on one core.
Resources resources_in_cores(const Point& point, const Machine& machine);

/// As the axis `pages` says; huge for a point without it.
Pages pages_of(const Point& point);

bool has_feature(const Machine& machine, const std::string& feature);

/// The processors that the point's threads run on, as many as the axis `threads` says, in the order that `placement` says
/// (`spread` where the point lacks that axis). Throws Unsupported if there are too few.
std::vector<int> processors_for(const Point& point, const Processors& all);

}  // namespace roof::cpu
