// Checks a loop over arrays by its machine code, because a loop that computes nothing has no result to check.
#pragma once

#include "cpu/kernels/stream_kernel.hpp"

namespace roof::cpu {

/// Decodes one iteration. Throws Error unless it loads and stores each byte of its part of every array once, as the
/// stream says, with the stores that the stream says, then advances by exactly these bytes and jumps to its start.
void check_loop(const StreamKernel& kernel);

}  // namespace roof::cpu
