// Runs another program with our standard input, output and error, forwards signals to it, and returns its exit status.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace roof {

/// Runs `words` with `variables` added to the environment, waits for it, and returns its exit status. As in a shell, that is 128 plus the
/// signal's number if a signal ended it, 127 if there is no such program, and 126 if it cannot be run; for the last two `problem` is
/// set to the reason.
int run_child(const std::vector<std::string>& words, const std::map<std::string, std::string>& variables,
              std::string& problem);

}  // namespace roof
