// Linear layer loops for SSE, which every x86-64 processor has.
#include "workloads/engine/recipe.hpp"
#include "workloads/kernels/linear/isa.hpp"

#include <immintrin.h>

#include <cstddef>
#include <utility>

#include "workloads/kernels/linear/loops.hpp"

namespace roof::kernels {

const LinearLoops linear_sse{
    "roof:sse", LinearLoopsFor<4, Dot::widened>::forward, LinearLoopsFor<4, Dot::widened>::backward_data,
    LinearLoopsFor<4, Dot::widened>::backward_weights, LinearLoopsFor<4, Dot::widened>::update};

}  // namespace roof::kernels
