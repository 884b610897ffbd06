#include "workloads/kernels/isa/isa.hpp"

#include "workloads/kernels/attention/isa.hpp"
#include "workloads/kernels/direct/loops.hpp"
#include "workloads/kernels/linear/isa.hpp"
#include "workloads/kernels/norm/isa.hpp"
#include "workloads/kernels/winograd/isa.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>
#include <utility>

#include <sys/syscall.h>
#include <unistd.h>

namespace roof::kernels {
namespace {

/// Names that oneDNN documents. Names of sets that include AMX, and unknown ones, limit nothing.
constexpr std::array<std::pair<std::string_view, Isa>, 7> limits{{{"SSE41", Isa::sse},
                                                                  {"AVX", Isa::sse},
                                                                  {"AVX2", Isa::avx2},
                                                                  {"AVX2_VNNI", Isa::avx2},
                                                                  {"AVX512_CORE", Isa::avx512},
                                                                  {"AVX512_CORE_VNNI", Isa::avx512},
                                                                  {"AVX512_CORE_BF16", Isa::avx512_bf16}}};

/// `all`: the widest set first, without gaps; `first`: its set.
template <class Loops>
std::span<const Loops* const> supported(std::span<const Loops* const> all, Isa first)
{
    const auto above = static_cast<std::size_t>(first) - static_cast<std::size_t>(std::min(first, widest_isa()));
    return all.subspan(std::min(all.size(), above));
}

/// Linux allows tiles only to processes that request them.
bool tiles_are_granted()
{
    constexpr long request_permission = 0x1023;
    constexpr long tile_data = 18;
    return syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
}

}  // namespace

Isa processor_isa()
{
    // clang 16 does not know the names of the levels x86-64-v3 and v4. No processor has these without the rest of a
    // level.
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !__builtin_cpu_supports("bmi2"))
        return Isa::sse;
    if (!__builtin_cpu_supports("avx512bw") || !__builtin_cpu_supports("avx512dq") ||
        !__builtin_cpu_supports("avx512vl"))
        return Isa::avx2;
    if (!__builtin_cpu_supports("avx512bf16")) return Isa::avx512;
    return __builtin_cpu_supports("amx-bf16") && tiles_are_granted() ? Isa::amx_bf16 : Isa::avx512_bf16;
}

Isa widest_isa()
{
    const char* const set = std::getenv("ONEDNN_MAX_CPU_ISA");
    const std::string_view limit = set == nullptr ? "" : set;
    const auto* const known = std::ranges::find(limits, limit, &std::pair<std::string_view, Isa>::first);
    return known == limits.end() ? processor_isa() : std::min(processor_isa(), known->second);
}

std::span<const DirectLoops* const> direct_loops_here()
{
    static constexpr const DirectLoops* all[]{&direct_avx512_bf16, &direct_avx512, &direct_avx2};
    return supported<DirectLoops>(all, Isa::avx512_bf16);
}

std::span<const LinearLoops* const> linear_loops_here(Precision precision)
{
    static constexpr const LinearLoops* fp32[]{&linear_avx512, &linear_avx2, &linear_sse};
    static constexpr const LinearLoops* bf16[]{&linear_avx512_bf16, &linear_avx512_widened, &linear_avx2_widened,
                                               &linear_sse_widened};
    return precision == Precision::bf16 ? supported<LinearLoops>(bf16, Isa::avx512_bf16)
                                        : supported<LinearLoops>(fp32, Isa::avx512);
}

std::span<const NormLoops* const> norm_loops_here()
{
    static constexpr const NormLoops* all[]{&norm_avx512, &norm_avx2, &norm_sse};
    return supported<NormLoops>(all, Isa::avx512);
}

std::span<const AttentionLoops* const> attention_loops_here(Precision precision)
{
    static constexpr const AttentionLoops* all[]{&attention_amx_bf16, &attention_avx512_bf16, &attention_avx512,
                                                 &attention_avx2, &attention_sse};
    return precision == Precision::bf16 ? supported<AttentionLoops>(all, Isa::amx_bf16)
                                        : supported<AttentionLoops>(std::span(all).subspan(2), Isa::avx512);
}

std::span<const WinogradLoops* const> winograd_loops_here()
{
    static constexpr const WinogradLoops* all[]{&winograd_avx512, &winograd_avx2};
    return supported<WinogradLoops>(all, Isa::avx512);
}

}  // namespace roof::kernels
