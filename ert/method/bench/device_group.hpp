// Several devices under one name, "gpu:0,1": a rank of training on each.
#pragma once

#include "ert/method/bench/machine.hpp"

#include <string>
#include <vector>

namespace roof {

/// "cpu" -> "cpu"; "gpu:0", "gpu:0,1" -> "gpu".
std::string kind_of_device(const std::string& name);

/// "gpu:0,1" -> "gpu:0", "gpu:1"; any other name is returned as it is. Throws InputError for a missing or repeated
/// number.
std::vector<std::string> devices_in(const std::string& name);

/// The first of the devices, with the names of the others. Throws InputError naming the devices there are.
Device device_for(const Machine& machine, const std::string& name);

}  // namespace roof
