// The working sets that GPU probes sweep over: multiples of what every multiprocessor has a like part of, from well
// inside the L1s to well beyond the L2.
#pragma once

#include "ert/method/bench/bench.hpp"

#include <string>
#include <vector>

namespace roof::gpu {

/// Of a level of memory as the machine reports it, over all its instances; 0 if it reports none.
Bytes capacity_of(const Device& device, std::string_view level);

/// "working_set", in bytes, with the words for sizes that the load sweep finds.
Axis working_set_axis(std::string meaning, std::vector<std::string> usual);

/// Two for each octave, four where the caches end, ascending, for the machine's first GPU; for a machine without one,
/// of some middling one.
std::vector<std::string> usual_working_sets(const Machine& machine);

/// One for each octave.
std::vector<std::string> usual_chase_sets(const Machine& machine);

/// One inside the L1s, one inside the L2, one beyond.
std::vector<std::string> usual_ert_sets(const Machine& machine);

}  // namespace roof::gpu
