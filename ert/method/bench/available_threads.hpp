// Whether a process may start as many threads as it needs.
#pragma once

namespace roof {

/// Throws Error unless so many threads, this one included, can run at once: OpenMP's library ends the process where they cannot.
void require_threads(long long count);

}  // namespace roof
