// Direct convolution loops for AVX-512.
#include "workloads/kernels/direct/isa.hpp"

#include <cstddef>

#pragma GCC target("arch=x86-64-v4")  // applies to the code below: include no foreign header after it

#include "workloads/kernels/direct/tile_loops.hpp"

namespace roof::kernels {

using Loops = DirectLoopsFor<16, 14>;

const DirectLoops direct_avx512{"roof:direct:avx512", 16, 14, Loops::tile, Loops::turn};

}  // namespace roof::kernels
