// The processors that a thread may use. A set is as large as the kernel's, which knows more than 1,024 processors on
// some machines.
#pragma once

#include <vector>

namespace roof {

/// Those of the calling thread, by the kernel's numbers, in order; none where the kernel does not tell.
std::vector<int> processors_of_thread();

/// The calling thread, and threads that it starts, run on these alone. 0, or the kernel's errno and nothing is changed.
int keep_thread_to(const std::vector<int>& processors);

/// Throws Error where OpenMP gave another number of threads than was asked for: part of the work would not be done.
void require_team(int given, int asked);

}  // namespace roof
