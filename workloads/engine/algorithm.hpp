// How a convolution is computed: the algorithm that a point names, and the one that an implementation uses.
#pragma once

#include "ert/base/names.hpp"

namespace roof::engine {

/// `automatic` is a request alone: the fastest implementation of each pass of each shape.
enum class Algorithm { automatic, direct, gemm, winograd, fft };
constexpr EnumNames<Algorithm::fft> names_of(Algorithm)
{
    return {"algorithm", {"auto", "direct", "gemm", "winograd", "fft"}};
}

}  // namespace roof::engine
