// Weights' gradient loops for AVX2.
#include "workloads/kernels/direct/weights_gradient_isa.hpp"

#include <cstddef>

#pragma GCC target("arch=x86-64-v3")  // applies to the code below: include no foreign header after it

#include "workloads/kernels/direct/weights_gradient_loops.hpp"

namespace roof::kernels {

using Loops = WeightsGradientFor<8, 3>;

const WeightsGradientLoops weights_gradient_avx2{"roof:direct:avx2", 8, 3, 1, Loops::products, Loops::bias};

}  // namespace roof::kernels
