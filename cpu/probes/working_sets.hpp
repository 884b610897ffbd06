// The default working sets of a machine. Reported cache sizes can only lengthen a sweep. Little available memory
// shortens it, and this is reported.
#pragma once

#include "ert/method/bench/bench.hpp"

#include <optional>
#include <string>
#include <vector>

namespace roof::cpu {

/// The axis `working_set` with these defaults and its keywords (ert/method/plan/scheduler.hpp).
Axis working_set_axis(std::string meaning, std::vector<std::string> defaults);

/// Two per octave, from 8 KiB to 256 MiB or four times the largest reported cache level (all instances together), at
/// most half of the available memory. One per octave beyond an eighth of that, where rounds take long.
std::vector<std::string> usual_working_sets(const Machine& machine);

/// The largest of them. It lies in memory according to the machine's report.
std::string usual_memory_set(const Machine& machine);

/// A set that lies in memory for the processors of one NUMA node: 256 MiB, or four times their share of the largest cache.
std::string usual_node_set(const Machine& machine);

/// One per octave, from 8 KiB to 128 MiB or four times the largest cache that one thread reaches, at most a quarter of
/// the available memory.
std::vector<std::string> usual_chase_sets(const Machine& machine);

/// A message if the sweep may end before memory, otherwise nothing.
std::optional<std::string> sweep_inconsistency(const Machine& machine);

}  // namespace roof::cpu
