// Whether this user may read a GPU's hardware counters, as far as it is known before counting.
#pragma once

#include "ert/method/bench/machine.hpp"

#include <string>

namespace roof::cupti {

/// `parameters`: /proc/driver/nvidia/params, empty without a driver. `is_root`: the user has all rights, except those
/// that a container withholds.
Capability counters_capability(const std::string& parameters, bool is_root);

/// The same for this process.
Capability counters_capability();

}  // namespace roof::cupti
