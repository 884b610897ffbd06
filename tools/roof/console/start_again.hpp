// A process that cannot use a device any more starts its command again: what it measured is kept, and the rest goes on.
#pragma once

namespace roof {

/// Replaces this process by a new one with the same arguments. `words`: of main(). Returns only if that fails.
void start_again(char** words);

}  // namespace roof
