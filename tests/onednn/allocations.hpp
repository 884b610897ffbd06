// Counts what this process allocates in large pieces, whoever asks for it: the executable's malloc stands before
// glibc's.
#pragma once

#include <cstddef>

namespace roof::onednn {

/// Allocations of at least this many bytes since the process began, by any thread. From here on glibc maps fresh
/// pages for each. Smaller ones are not ours to forbid: oneDNN's matrix product takes 74 KiB per thread for packing
/// at each call.
inline constexpr std::size_t large_allocation = 131072;
long large_allocations();

}  // namespace roof::onednn
