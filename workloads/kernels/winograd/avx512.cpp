// Winograd loops for AVX-512.
#include "workloads/kernels/winograd/isa.hpp"

#include <cstddef>

#pragma GCC target("arch=x86-64-v4")  // applies to the code below: include no foreign header after it

#include "workloads/kernels/winograd/loops.hpp"

namespace roof::kernels {

using Loops = WinogradLoopsFor<16, 14, 8>;

const WinogradLoops winograd_avx512{"roof:wino_4x3:avx512",
                                    16,
                                    Loops::weights,
                                    Loops::turned_weights,
                                    Loops::maps,
                                    Loops::gradients,
                                    Loops::products,
                                    Loops::results,
                                    Loops::correlate,
                                    Loops::weights_gradient};

}  // namespace roof::kernels
