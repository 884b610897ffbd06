// The loops of a linear layer for SSE, which every processor of this architecture has.
#include "workloads/engine/recipe.hpp"
#include "workloads/onednn/loops/linear/isa.hpp"

#include <immintrin.h>

#include <cstddef>
#include <utility>

#include "workloads/onednn/loops/linear/loops.hpp"

namespace roof::onednn {

const LinearLoops linear_sse{
    "roof:sse", LinearLoopsFor<4, Dot::widened>::forward, LinearLoopsFor<4, Dot::widened>::backward_data,
    LinearLoopsFor<4, Dot::widened>::backward_weights, LinearLoopsFor<4, Dot::widened>::update};

}  // namespace roof::onednn
