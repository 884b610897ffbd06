// Which working sets are usual on a machine. Reported cache sizes only ever make a sweep longer; the memory that is available
// may make it shorter, which is then said.
#pragma once

#include "ert/method/bench/bench.hpp"

#include <optional>
#include <string>
#include <vector>

namespace roof::cpu {

/// The axis `working_set`, with those `usual`, and with the words for sizes that a sweep has found.
Axis working_set_axis(std::string meaning, std::vector<std::string> usual);

/// Two for each octave, from 8 KiB to 256 MiB or four times the largest level of cache reported, all its instances
/// together; at most half of the memory available. One for each octave beyond an eighth of that, where a round is dear and
/// memory's level wide.
std::vector<std::string> usual_working_sets(const Machine& machine);

/// The last of them: in memory, by all that is reported.
std::string usual_memory_set(const Machine& machine);

/// One for each octave, from 8 KiB to 128 MiB or four times the largest cache that one thread reaches; at most a quarter of
/// the memory available.
std::vector<std::string> usual_chase_sets(const Machine& machine);

/// That the sweep ends before it has left the caches behind for sure, or nothing.
std::optional<std::string> sweep_inconsistency(const Machine& machine);

}  // namespace roof::cpu
