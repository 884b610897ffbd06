// Values for trials of a library's plans, and the comparison of their results with those of our kernels.
#pragma once

#include "workloads/cudnn/program/program.hpp"

#include <cstddef>
#include <vector>

namespace roof::cudnn {

/// Number of values of a pattern: a prime, so that no channel gets the same values periodically.
inline constexpr std::size_t pattern_length = 65521;

/// Returns values from `from` to `from` + 2.
std::vector<float> pattern(float from);
/// Fills the tensor with the values, again and again, in its precision. Throws Error.
void repeat(const std::vector<float>& values, const Tensor& tensor, const Memory& memory);
/// Returns whether the first values of both tensors agree: their distance is at most `tolerance` of the length of `due`.
/// Throws Error.
bool are_near(const Tensor& found, const Tensor& due, const Memory& memory, double tolerance);

}  // namespace roof::cudnn
