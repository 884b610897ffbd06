// The loops of a batch norm for SSE, which every processor of this architecture has.
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
