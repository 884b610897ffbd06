// The intensities of the "ert" bench, and the sums its kernels must produce. Host code.
#pragma once

#include "ert/base/precision.hpp"
#include "ert/gpu/kernels/intensity.hpp"

#include <array>
#include <cstddef>
#include <string_view>

namespace roof::gpu {

/// FLOPs per byte as plans write them; entry i is that of multiply_adds_of_vector[i].
inline constexpr std::array<std::string_view, multiply_adds_of_vector.size()> intensity_names{
    "1/8", "1/4", "1/2", "1", "2", "4", "8", "16", "32", "64"};

/// Multiply-adds per vector for one of intensity_names. Throws InputError naming them.
int multiply_adds_for(std::string_view intensity);

/// The number of vectors of a pass for which the sums of that many threads are exact in the precision, whatever the
/// numbers are.
std::size_t exact_vectors(Precision precision, int multiply_adds, std::size_t threads);

/// What one pass over that many vectors adds to the sum over all threads.
double expected_sum(Precision precision, int multiply_adds, std::size_t vectors);

}  // namespace roof::gpu
