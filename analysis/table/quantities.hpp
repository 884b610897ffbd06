// Quantities as text for people: median and 95% interval in one unit, shares, intensities.
#pragma once

#include "ert/base/estimate.hpp"

#include <string>
#include <string_view>

namespace roof::analysis {

/// {0.0123, 0.0120, 0.0125} s -> "12.3 ms [12.0, 12.5]": one prefix for all three, none for images, sequences and
/// tokens, `digits` significant digits.
std::string with_interval(const Spread& ends, std::string_view unit, int digits = 3);

/// "0.912 [0.900, 0.925]".
std::string ratio_text(const Spread& ratio, int decimals = 3);

/// 0.123 -> "12%"; below ten percent with one decimal; "-" if not finite.
std::string percent(double share);

/// The range in FLOP/B, without the unit: "0.25 to 97", or one number if both ends have the same text.
std::string intensity_text(Intensity low, Intensity high);

/// "9"; below six samples, of which the interval is the range, "range of 4".
std::string samples_text(int n);

/// "1 node", "2 nodes".
std::string how_many(std::size_t number, std::string_view thing);
std::string threads_text(int threads);
/// What a ceiling was measured with: "2 threads" of a CPU, else the device, "gpu:0".
std::string processors_text(const std::string& device, int threads);
/// "cpu, 2 threads", "gpu:0".
std::string device_text(const std::string& device, int threads);

/// The label of a tick: 1e10, "FLOP/s" -> "10 GFLOP/s".
std::string tick_text(double value, std::string_view unit);

/// `digits` significant digits without exponent: "0.0123", "1.23", "1230"; "-" if not finite.
std::string plain_number(double value, int digits = 3);

}  // namespace roof::analysis
