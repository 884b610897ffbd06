// The interface to valgrind's callgrind, which counts cache misses of this process. A build without its header has no simulator.
#pragma once

#include "ert/method/bench/subject.hpp"

#include <cstddef>
#include <string>

namespace roof {

/// The reason why this build cannot be simulated; empty if it can.
std::string missing_simulator();

/// Whether this process runs under it.
bool under_simulator();

/// One launch to fill the caches, then one in which the counts of each part are dumped under the name "part N".
void launch_for_simulator(Subject& subject, std::size_t parts);

}  // namespace roof
