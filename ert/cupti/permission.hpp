// Whether this user may read a GPU's hardware counters, as far as it shows before anything is counted.
#pragma once

#include "ert/method/bench/machine.hpp"

#include <string>

namespace roof::cupti {

/// `parameters`: /proc/driver/nvidia/params, empty where there is no driver; `is_root`: the user has all rights, which a container may
/// yet withhold.
Capability counters_capability(const std::string& parameters, bool is_root);

/// Of this process.
Capability counters_capability();

}  // namespace roof::cupti
