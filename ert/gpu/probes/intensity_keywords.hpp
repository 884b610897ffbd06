// FLOPs per byte of the "ert" bench, as plans write them: an eighth of the multiply-adds of a vector.
#pragma once

#include "ert/gpu/kernels/intensity.hpp"

#include <array>
#include <string_view>

namespace roof::gpu {

inline constexpr std::array<std::string_view, multiply_adds_of_vector.size()> intensity_keywords{
    "1/8", "1/4", "1/2", "1", "2", "4", "8", "16", "32", "64"};

}  // namespace roof::gpu
