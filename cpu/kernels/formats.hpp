// How numbers lie in registers and memory, element by element: what the kernels read and write, in terms of doubles, which
// hold every value of every format here exactly.
#pragma once

#include "ert/base/precision.hpp"

#include <cstddef>

namespace roof::cpu {

enum class Format { fp64, fp32, fp16, bf16, int32, int8 };

int bytes_of(Format format);

/// The format of a precision's elements. Throws Unsupported for tf32 and fp8.
Format format_of(Precision precision);

double read_element(Format format, const std::byte* from);

/// Rounded to nearest, ties to even; integers modulo 2^32 or 2^8. fp16 and bf16: what `rounded` says of them.
void write_element(Format format, std::byte* to, double value);

/// The nearest value of a floating-point format, ties to even. fp16 and bf16: for values whose exponent the format has.
double rounded(Format format, double value);

/// Neither zero, denormal, infinite nor not a number, as the format has it. Every integer is.
bool is_normal(Format format, double value);

}  // namespace roof::cpu
