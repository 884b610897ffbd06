// The loops of a linear layer for SSE, which every processor of this architecture has.
#include "workloads/onednn/loops/linear/isa.hpp"
#include "workloads/onednn/settings.hpp"

#include <cstddef>

#include "workloads/onednn/loops/linear/loops.hpp"

namespace roof::onednn {

const LinearLoops linear_sse{"roof:sse", LinearLoopsFor<4, 4, 2>::forward, LinearLoopsFor<4, 4, 2>::backward_data,
                             LinearLoopsFor<4, 4, 2>::update};

}  // namespace roof::onednn
