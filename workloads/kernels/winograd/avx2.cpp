// Winograd loops for AVX2.
#include "workloads/kernels/winograd/isa.hpp"

#include <cstddef>

#pragma GCC target("arch=x86-64-v3")  // applies to the code below: include no foreign header after it

#include "workloads/kernels/winograd/loops.hpp"

namespace roof::kernels {

using Loops = WinogradLoopsFor<8, 6, 4>;

const WinogradLoops winograd_avx2{"roof:wino_4x3:avx2", 8,
                                  Loops::weights,       Loops::turned_weights,
                                  Loops::maps,          Loops::gradients,
                                  Loops::products,      Loops::results,
                                  Loops::correlate,     Loops::weights_gradient};

}  // namespace roof::kernels
