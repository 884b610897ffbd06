// How much memory a process may still take without being killed or swapped.
#pragma once

#include "ert/base/units.hpp"

namespace roof {

/// The kernel's MemAvailable, or what this process's control group, or one above it, leaves of its limit if that is less.
Bytes available_memory();

}  // namespace roof
