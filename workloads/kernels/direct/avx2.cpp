// Direct convolution loops for AVX2.
#include "workloads/kernels/direct/isa.hpp"

#include <cstddef>

#pragma GCC target("arch=x86-64-v3")  // applies to the code below: include no foreign header after it

#include "workloads/kernels/direct/tile_loops.hpp"

namespace roof::kernels {

using Loops = DirectLoopsFor<8, 6>;

const DirectLoops direct_avx2{"roof:direct:avx2", 8, 6, Loops::tile, Loops::turn};

}  // namespace roof::kernels
