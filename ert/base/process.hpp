// Starts other programs.
#pragma once

#include <spawn.h>

#include <map>
#include <string>
#include <vector>

namespace roof {

/// Starts `words.front()`, which is searched in PATH if it has no slash, with these variables added to the environment. Returns 0 and
/// sets `id`, or returns the number of the error.
int start_process(pid_t& id, std::vector<std::string> words, const std::map<std::string, std::string>& variables,
                  const posix_spawn_file_actions_t* actions, const posix_spawnattr_t* attributes);

}  // namespace roof
