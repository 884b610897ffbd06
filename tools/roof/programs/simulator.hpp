// The simulator that this process may be running under: valgrind's callgrind, which counts what caches miss. A build without its
// header has no simulator, and says so.
#pragma once

#include "ert/method/bench/subject.hpp"

#include <cstddef>
#include <string>

namespace roof {

/// Why this build cannot be simulated; empty if it can.
std::string missing_simulator();

/// Whether this process runs under it.
bool under_simulator();

/// One launch that fills the caches, then one of which each part's counts are written to a file of its own, under the name
/// "part N".
void launch_for_simulator(Subject& subject, std::size_t parts);

}  // namespace roof
