#include "workloads/kernels/norm/isa.hpp"

namespace roof::kernels {

std::span<const NormLoops* const> norm_loops_here()
{
    static constexpr const NormLoops* widest_first[]{&norm_avx512, &norm_avx2, &norm_sse};
    const int beyond = __builtin_cpu_supports("x86-64-v4") ? 0 : __builtin_cpu_supports("x86-64-v3") ? 1 : 2;
    return std::span<const NormLoops* const>(widest_first).subspan(static_cast<std::size_t>(beyond));
}

}  // namespace roof::kernels
