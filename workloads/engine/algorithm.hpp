// How a convolution is computed: the algorithm that a point names, and the one that an implementation uses.
#pragma once

#include "ert/base/names.hpp"

namespace roof::engine {

/// `automatic` is a request alone: the fastest implementation of each pass of each shape.
enum class Algorithm { automatic, direct, gemm, winograd, fft };
constexpr EnumNames<Algorithm, 5> names_of(Algorithm)
{
    return {"algorithm",
            {{{Algorithm::automatic, "auto"},
              {Algorithm::direct, "direct"},
              {Algorithm::gemm, "gemm"},
              {Algorithm::winograd, "winograd"},
              {Algorithm::fft, "fft"}}}};
}

}  // namespace roof::engine
