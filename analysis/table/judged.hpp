// Measured steps of which no verdict is given, and why.
#pragma once

#include "ert/method/bench/measurement.hpp"

namespace roof::analysis {

/// Whether the ranks of a row took turns on one device, so that its time is not one of ranks side by side.
bool took_turns(const Measurement& row);
/// Whether the clocks of a row's ranks differ (row_words.hpp).
bool differ_in_clock(const Measurement& row);
/// Whether the bytes of a step on a GPU are those of its layers one by one, although our kernels of batch norms ran
/// fused and moved fewer: a row of before its bench said that it counts operations.
bool has_bytes_of_others(const Measurement& row);

}  // namespace roof::analysis
