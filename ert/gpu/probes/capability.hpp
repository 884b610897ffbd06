// Facts of a GPU from its description, so that a row can state why a point is unsupported.
#pragma once

#include "ert/method/bench/machine.hpp"

#include <optional>
#include <string>

namespace roof::gpu {

/// N of "gpu:N". Throws Error for other names.
int number_of(const Device& device);

/// A fact that is a number; `otherwise` if it is unknown.
double number_in(const Device& device, const std::string& fact, double otherwise = 0);

/// 90 for compute capability 9.0; 0 if unknown.
int capability_of(const Device& device);

/// Number of multiprocessors; 1 if unknown.
int multiprocessors_of(const Device& device);

/// "needs compute capability 9.0; this GPU has 8.0", or nothing if the device has at least `least`.
std::optional<std::string> missing_capability(const Device& device, int least, const std::string& what);

}  // namespace roof::gpu
