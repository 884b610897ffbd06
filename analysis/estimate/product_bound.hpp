// The bytes that a product (a convolution or a linear layer) moves at least, whatever its blocking: a bound by arithmetic
// alone, from the multiply-adds, the memory nearer to the core, and how often windows read an input again.
//   A phase of the product that loads X values, with S values kept nearer to the core, touches at most (S + X) / 3 of each
//   of the three operands on average, so it does at most sqrt(R) * ((S + X) / 3)^1.5 multiply-adds (Loomis and Whitney; an
//   input value appears in at most R windows). With X = 2S:
//     values >= 2 * multiply-adds / sqrt(R * S) - 2S
//   For R = 1 it is the bound of Smith, Lowery, Langou and van de Geijn (2019) for matrices; for windows see Chen, Han, Wang
//   (2020). It does not hold for Winograd and FFT, which multiply less.
#pragma once

#include "ert/base/units.hpp"

#include <map>
#include <string>

namespace roof::analysis {

/// R for each convolution and linear layer of a network: windows that read one input value, ceil(size / stride)^2, 1 for a
/// linear layer. Empty for a model that this build does not know or whose file is gone.
std::map<std::string, double> input_uses(const std::string& model);

/// The bound for `products` that run one after another, over `parts` processors with `nearer` bytes each. `value` is the
/// size of a value. Never below 0; 0 without nearer memory.
Bytes least_bytes_of_product(Flops flops, double uses, Bytes nearer, int parts, Bytes value, int products);

}  // namespace roof::analysis
