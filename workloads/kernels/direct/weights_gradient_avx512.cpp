// Weights' gradient loops for AVX-512.
#include "workloads/kernels/direct/weights_gradient_isa.hpp"

#include <cstddef>

#pragma GCC target("arch=x86-64-v4")  // applies to the code below: include no foreign header after it

#include "workloads/kernels/direct/weights_gradient_loops.hpp"

namespace roof::kernels {

using Loops = WeightsGradientFor<16, 4>;

const WeightsGradientLoops weights_gradient_avx512{"roof:direct:avx512", 16, 4, 1, Loops::products, Loops::bias};

}  // namespace roof::kernels
