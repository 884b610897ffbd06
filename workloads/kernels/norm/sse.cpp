// Batch norm loops for SSE, which every x86-64 processor has.
#include "workloads/kernels/norm/isa.hpp"

#include <cstddef>

#include "workloads/kernels/norm/loops.hpp"

namespace roof::kernels {

const NormLoops norm_sse{"sse",
                         4,
                         NormLoopsFor<4>::sums,
                         NormLoopsFor<4>::normalise,
                         NormLoopsFor<4>::gradient_sums,
                         NormLoopsFor<4>::spread};

}  // namespace roof::kernels
