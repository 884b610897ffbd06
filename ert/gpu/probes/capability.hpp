// Capabilities of a GPU from its description, so that a row can state why a point is unsupported.
#pragma once

#include "ert/method/bench/machine.hpp"

#include <optional>
#include <string>

namespace roof::gpu {

/// 90 for compute capability 9.0; 0 if unknown.
int capability_of(const Device& device);

/// Number of multiprocessors; 1 if unknown.
int multiprocessors_of(const Device& device);

/// "needs compute capability 9.0; this GPU has 8.0", or nothing if the device has at least `least`.
std::optional<std::string> missing_capability(const Device& device, int least, const std::string& what);

}  // namespace roof::gpu
