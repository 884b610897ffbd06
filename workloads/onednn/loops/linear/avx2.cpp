// The loops of a linear layer for AVX2 with fused multiply-add.
#include "workloads/onednn/loops/linear/isa.hpp"
#include "workloads/onednn/settings.hpp"

#include <cstddef>

#pragma GCC target("arch=x86-64-v3")  // for what follows alone: no header of others may come after it

#include "workloads/onednn/loops/linear/loops.hpp"

namespace roof::onednn {

const LinearLoops linear_avx2{"roof:avx2", LinearLoopsFor<8, 4, 2>::forward, LinearLoopsFor<8, 4, 2>::backward_data,
                              LinearLoopsFor<8, 4, 2>::update};

}  // namespace roof::onednn
