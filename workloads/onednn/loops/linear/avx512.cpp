// The loops of a linear layer for AVX-512.
#include "workloads/onednn/loops/linear/isa.hpp"
#include "workloads/onednn/settings.hpp"

#include <cstddef>

#pragma GCC target("arch=x86-64-v4")  // for what follows alone: no header of others may come after it

#include "workloads/onednn/loops/linear/loops.hpp"

namespace roof::onednn {

const LinearLoops linear_avx512{"roof:avx512", LinearLoopsFor<16, 6, 4>::forward,
                                LinearLoopsFor<16, 6, 4>::backward_data, LinearLoopsFor<16, 6, 4>::update};

}  // namespace roof::onednn
