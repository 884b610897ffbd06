// All loops for SSE, which every x86-64 processor has.
#include "workloads/engine/recipe.hpp"
#include "workloads/kernels/attention/loops.hpp"
#include "workloads/kernels/linear/isa.hpp"
#include "workloads/kernels/linear/loops.hpp"
#include "workloads/kernels/norm/isa.hpp"
#include "workloads/kernels/norm/loops.hpp"

namespace roof::kernels {

constinit const LinearLoops linear_sse = linear_loops<4, float>("roof:sse");
constinit const LinearLoops linear_sse_widened = linear_loops<4, BFloat16>("roof:sse");
constinit const NormLoops norm_sse = norm_loops<4>("roof:sse");
constinit const AttentionLoops attention_sse = attention_loops<4>("roof:attention:sse");

}  // namespace roof::kernels
