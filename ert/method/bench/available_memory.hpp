// How much memory a process may still take without being killed or swapped.
#pragma once

#include "ert/base/units.hpp"

namespace roof {

/// The kernel's MemAvailable, or less if the limit of this process's control group, or of a parent, leaves less.
Bytes available_memory();

}  // namespace roof
