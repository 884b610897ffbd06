// The axes that all CPU probes share, their default values on a machine, and the reasons why a value is unsupported.
// Reported cache sizes can only lengthen a sweep of working sets. Little available memory shortens it, and this is
// reported.
#pragma once

#include "cpu/noise_monitor.hpp"
#include "cpu/topology.hpp"
#include "ert/method/bench/bench.hpp"
#include "ert/method/bench/buffer.hpp"

#include <optional>
#include <string>
#include <vector>

namespace roof::cpu {

/// The target time of one launch: long compared with a clock reading, short compared with a disturbance.
inline constexpr Seconds launch_target{0.3e-3};

Axis isa_axis(std::vector<std::string> usual);
/// The axis `threads` with these defaults; if empty: one, and all that this process may use.
Axis threads_axis(const Machine& machine, const std::vector<int>& counts);

/// The axis `placement`: which hardware threads are used. Default: one of every core before a second of any.
Axis placement_axis();
/// The axis `pages`: the page size of memory. Default: huge, if the system grants them.
Axis pages_axis();

/// The reason why the point's isa, threads or placement is unsupported on this machine, or none.
std::optional<std::string> missing_isa(const Point& point, const Machine& machine);
std::optional<std::string> missing_threads(const Point& point, const Machine& machine);
/// The reason why the machine cannot place two threads on a core; none if it can or the point lacks the axis.
std::optional<std::string> missing_siblings(const Point& point, const Machine& machine);

/// `their_own` if no two threads run on one core.
Resources resources_in_cores(const Point& point, const Machine& machine);

Pages pages_of(const Point& point);

bool has_feature(const Machine& machine, const std::string& feature);

/// The processors for the point's threads: as many as the axis `threads` says, in the order of `placement` (default
/// `spread`); one thread runs on the quietest core. Throws Unsupported if there are too few.
std::vector<int> processors_for(const Point& point, const Processors& all, CoreHistory& history);

/// The axis `operation`: the usual operations on arrays, or the text of another.
Axis operation_axis(std::vector<std::string> usual);

/// The axis `working_set` with these defaults and its keywords (ert/method/plan/scheduler.hpp).
Axis working_set_axis(std::string meaning, std::vector<std::string> defaults);

/// Two per octave, from 8 KiB to 256 MiB or four times the largest reported cache level (all instances together), at
/// most half of the available memory. One per octave beyond an eighth of that, where rounds take long.
std::vector<std::string> usual_working_sets(const Machine& machine);

/// The largest of them. It lies in memory according to the machine's report.
std::string usual_memory_set(const Machine& machine);

/// A set that lies in memory for the processors of one NUMA node: 256 MiB, or four times their share of the largest
/// cache.
std::string usual_node_set(const Machine& machine);

/// One per octave, from 8 KiB to 128 MiB or four times the largest cache that one thread reaches, at most a quarter of
/// the available memory.
std::vector<std::string> usual_chase_sets(const Machine& machine);

/// A message if the sweep may end before memory, otherwise nothing.
std::optional<std::string> sweep_inconsistency(const Machine& machine);

}  // namespace roof::cpu
