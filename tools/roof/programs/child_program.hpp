// Another program, run in our place: it has our standard input, output and error to itself, the signals sent to us go to it, and
// its exit status is ours.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace roof {

/// Runs `words` with `variables` added to the environment, waits for its end, and returns its exit status: 128 and the signal's
/// number if a signal ended it, 127 if there is no such program and 126 if it cannot be run, as shells have it. The reason of the
/// latter two goes to `problem`.
int run_child(const std::vector<std::string>& words, const std::map<std::string, std::string>& variables,
              std::string& problem);

}  // namespace roof
