// How a convolution is computed: the algorithm that a point names, and the one that an implementation uses.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace roof::engine {

/// `automatic` is a request alone: the fastest implementation of each pass of each shape.
enum class Algorithm { automatic, direct, gemm, winograd, fft };

/// "auto", "direct", "gemm", "winograd", "fft".
std::string_view name(Algorithm algorithm);

/// Throws InputError with the names of the legal algorithms.
Algorithm parse_algorithm(std::string_view text, std::initializer_list<Algorithm> legal);

}  // namespace roof::engine
