// Multiply-adds rotate over chains. The number of chains divides the number of multiply-adds per iteration, so the
// distance between two on the same chain is constant across iterations. The factor is one, so the result is a sum that
// does not depend on the order.
#include "cpu/kernels/intensity_kernel.hpp"

#include "ert/base/error.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <tuple>

namespace roof::cpu {
namespace {

constexpr int loop_alignment = 64;
constexpr int word_accumulators = 6;

/// The last register holds the factor. Some others hold sums of words or the current vector.
int most_chains(const Isa& isa, const FmaRatio& ratio)
{
    return ratio.loads > 1 ? isa.registers / 2 : isa.registers * 3 / 4;
}

}  // namespace

FmaRatio fma_ratio(double intensity, Precision precision)
{
    constexpr double flops_of_fma = 2;
    const double fmas = intensity * traits(precision).storage_bytes / flops_of_fma;
    if (fmas >= 1) return {static_cast<int>(std::lround(fmas)), 1};
    return {1, static_cast<int>(std::lround(1 / fmas))};
}

IntensityKernel::IntensityKernel(const Isa& isa_row, Precision precision, const FmaRatio& ratio, int vectors)
    : Emitter(isa_row, precision), element_bytes_(traits(precision).storage_bytes), ratio_(ratio), vectors_(vectors)
{
    if (isa_row.encoding != Encoding::vex && isa_row.encoding != Encoding::evex)
        throw Unsupported("loads that feed multiply-adds need avx2 or avx512");
    plan_uses();
    generate();
}

std::vector<int> IntensityKernel::lengths(const FmaRatio& ratio)
{
    // Multiples of three: the multiply-adds then fill twelve chains of equal length.
    const int shortest = ratio.loads > 1 ? std::max(16, ratio.loads) : std::clamp(48 / ratio.fmas, 3, 12);
    return {shortest, 2 * shortest};
}

double IntensityKernel::flops_per_iteration() const
{
    const auto fmas = std::ranges::count_if(uses_, [](const Use& use) { return !use.is_words; });
    return 2.0 * static_cast<double>(fmas) * operand_bytes() / element_bytes_;
}

void IntensityKernel::plan_uses()
{
    const int fmas = vectors_ / ratio_.loads * ratio_.fmas;
    int chains = std::min(fmas, most_chains(isa(), ratio_));
    while (fmas % chains != 0) --chains;
    int fma = 0;
    int words = 0;
    for (int index = 0; index < vectors_; ++index) {
        if (index % ratio_.loads != 0) {
            uses_.push_back({index, chains + words++ % word_accumulators, true});
            continue;
        }
        for (int i = 0; i < ratio_.fmas; ++i) uses_.push_back({index, fma++ % chains, false});
    }
    accumulators_ = chains + (ratio_.loads > 1 ? word_accumulators : 0);
}

void IntensityKernel::run(std::size_t passes, std::size_t bytes, const std::byte* array, const std::byte* factor,
                          std::byte* result) const
{
    using Function = void (*)(std::size_t, std::size_t, const std::byte*, const std::byte*, std::byte*);
    getCode<Function>()(passes, bytes, array, factor, result);
}

void IntensityKernel::generate()
{
    const auto& [passes, bytes, array, factor, result] = std::tie(rdi, rsi, rdx, rcx, r8);
    const auto& [at, left] = std::tie(r9, rax);
    load(isa().registers - 1, ptr[factor]);
    for (int i = 0; i < accumulators_; ++i) clear(i);

    Xbyak::Label pass;
    Xbyak::Label iteration;
    L(pass);
    mov(at, array);
    mov(left, bytes);
    align(loop_alignment);
    L(iteration);
    mark_loop_begin();
    for (int index = 0; index < vectors_; ++index) emit_vector(index);
    mark_loop_end();
    const auto step = static_cast<std::uint32_t>(bytes_per_iteration());
    add(at, step);
    sub(left, step);
    jnz(iteration, T_NEAR);
    dec(passes);
    jnz(pass, T_NEAR);

    for (int i = 0; i < accumulators_; ++i) store(ptr[place_of(i, result)], i);
    finish();
}

void IntensityKernel::emit_vector(int index)
{
    const int factor = isa().registers - 1;
    const int at_hand = factor - 1;
    const int offset = index * operand_bytes();
    const auto from = ptr[r9 + offset];
    const bool is_used_often = ratio_.fmas > 1;
    if (is_used_often) load(at_hand, from);
    for (const Use& use : uses_) {
        if (use.vector != index) continue;
        if (use.is_words)
            add_words(use.target, from, at_hand);
        else if (is_used_often)
            multiply_add(use.target, factor, vector(at_hand));
        else
            multiply_add(use.target, factor, from);
    }
}

}  // namespace roof::cpu
