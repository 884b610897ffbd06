// Reads and writes the elements of registers and memory as doubles. A double holds every value of every format here
// exactly.
#pragma once

#include "ert/base/precision.hpp"

#include <cstddef>

namespace roof::cpu {

enum class Format { fp64, fp32, fp16, bf16, int32, int8 };

int bytes_of(Format format);

/// The element format of a precision. Throws Unsupported for tf32 and fp8.
Format format_of(Precision precision);

double read_element(Format format, const std::byte* from);

/// Writes `value` rounded to nearest, ties to even; integers modulo 2^32 or 2^8. The limits of `rounded` apply to fp16
/// and bf16.
void write_element(Format format, std::byte* to, double value);

/// The nearest value of a floating-point format, ties to even. fp16 and bf16: only values whose exponent the format
/// has.
double rounded(Format format, double value);

/// True unless the value is zero, denormal, infinite or NaN in the format. Always true for integers.
bool is_normal(Format format, double value);

}  // namespace roof::cpu
