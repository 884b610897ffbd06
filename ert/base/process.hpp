// The standard output of this program, which libraries do not share, and the start of other programs.
#pragma once

#include <spawn.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace roof {

/// Starts `words.front()`, which is searched in PATH if it has no slash, with these variables added to the environment.
/// Its standard output is this program's where `actions` is null. Returns 0 and sets `id`, or returns the number of the
/// error.
int start_process(pid_t& id, std::vector<std::string> words, const std::map<std::string, std::string>& variables,
                  const posix_spawn_file_actions_t* actions, const posix_spawnattr_t* attributes);

/// From now on standard output is this program's alone: own_output() is another descriptor of it, and what a library
/// prints there goes to standard error. A stream that was closed is opened on /dev/null so that no file takes its
/// number; writing to it still fails.
void keep_own_output();
/// The descriptor of standard output.
int own_output();
/// Undoes keep_own_output(), for a program that takes this one's place.
void give_back_output();

/// Throws Unsupported where the system lets no program run code that it has written, as kernels of measured loops and
/// of oneDNN are.
void require_generated_code();

/// What the file system of a folder that a run has locked cannot do, as "results/x has no locks (…): …"; empty as a
/// rule.
std::string lacks_of_file_system(const std::filesystem::path& folder);

}  // namespace roof
