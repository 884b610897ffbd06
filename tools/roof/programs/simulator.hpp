// Counts cache misses of this process by valgrind's callgrind. A build without valgrind's header has no simulator.
#pragma once

#include "ert/method/bench/subject.hpp"

#include <cstddef>
#include <string>

namespace roof {

/// The reason why this build has no simulator; empty if it has one.
std::string missing_simulator();

/// Whether this process runs under valgrind's simulator.
bool under_simulator();

/// Runs one launch to fill the caches, then one whose counts are dumped for each part under the name "part N".
void launch_for_simulator(Subject& subject, std::size_t parts);

}  // namespace roof
