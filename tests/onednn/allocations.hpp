// Counts large allocations of this process from any caller. The executable's malloc replaces glibc's.
#pragma once

#include <cstddef>

namespace roof::onednn {

/// Allocations of at least `large_allocation` bytes since the process began, in all threads. From this size on glibc
/// maps new pages. Smaller ones are accepted: oneDNN's matrix product allocates 74 KiB per thread at each call.
inline constexpr std::size_t large_allocation = 131072;
long large_allocations();

}  // namespace roof::onednn
