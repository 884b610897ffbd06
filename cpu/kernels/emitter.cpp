// One function per instruction. Each chooses the encoding that the row of the ISA table requires.
#include "cpu/kernels/emitter.hpp"

#include "ert/base/error.hpp"
#include "ert/base/process.hpp"

namespace roof::cpu {
namespace {

constexpr std::size_t code_bytes = 8192;

}  // namespace

Emitter::Emitter(const Isa& isa, Precision precision)
    : CodeGenerator(code_bytes, Xbyak::DontSetProtectRWE), isa_(isa), precision_(precision)
{
    const bool known = precision != Precision::tf32 && precision != Precision::fp8 && precision != Precision::fp4 &&
                       (precision != Precision::fp16 || isa.encoding == Encoding::evex);
    if (!known)
        throw Unsupported("CPU kernels have no " + std::string(traits(precision).name) + " on " +
                          std::string(isa.name));
}

std::span<const std::uint8_t> Emitter::loop() const
{
    return std::span(getCode(), getSize()).subspan(loop_begin_, loop_end_ - loop_begin_);
}

Xbyak::Xmm Emitter::vector(int index) const
{
    using Xbyak::Operand;
    switch (isa_.encoding) {
        case Encoding::vex:
            return {Operand::YMM, index};
        case Encoding::evex:
            return {Operand::ZMM, index};
        default:
            return {Operand::XMM, index};
    }
}

void Emitter::load(int destination, const Xbyak::Address& source)
{
    const Xbyak::Xmm to = vector(destination);
    if (is_scalar()) return is_double() ? movsd(to, source) : movss(to, source);
    if (is_legacy()) return movaps(to, source);
    vmovaps(to, source);
}

void Emitter::store(const Xbyak::Address& destination, int source)
{
    const Xbyak::Xmm from = vector(source);
    if (is_scalar()) return is_double() ? movsd(destination, from) : movss(destination, from);
    if (is_legacy()) return movaps(destination, from);
    vmovaps(destination, from);
}

void Emitter::store_nontemporal(const Xbyak::Address& destination, int source)
{
    const Xbyak::Xmm from = vector(source);
    if (is_scalar()) throw Unsupported("scalar has no non-temporal store; sse and wider have");
    is_legacy() ? movntps(destination, from) : vmovntps(destination, from);
}

void Emitter::clear(int accumulator)
{
    const Xbyak::Xmm a = vector(accumulator);
    if (is_legacy()) return pxor(a, a);
    if (isa_.encoding == Encoding::vex) return vpxor(a, a, a);
    vpxorq(a, a, a);
}

void Emitter::add_words(int accumulator, const Xbyak::Address& source, int scratch)
{
    const Xbyak::Xmm a = vector(accumulator);
    if (is_scalar()) {
        load(scratch, source);
        return paddq(a, vector(scratch));
    }
    if (is_legacy()) return paddq(a, source);
    vpaddq(a, a, source);
}

void Emitter::add_words(int accumulator, int addend)
{
    const Xbyak::Xmm a = vector(accumulator);
    is_legacy() ? paddq(a, vector(addend)) : vpaddq(a, a, vector(addend));
}

void Emitter::join_bits(int accumulator, const Xbyak::Address& source, int scratch)
{
    const Xbyak::Xmm a = vector(accumulator);
    if (is_scalar()) {
        load(scratch, source);
        return por(a, vector(scratch));
    }
    if (is_legacy()) return por(a, source);
    if (isa_.encoding == Encoding::vex) return vpor(a, a, source);
    vporq(a, a, source);
}

void Emitter::maximum(int accumulator, const Xbyak::Address& source)
{
    const Xbyak::Xmm a = vector(accumulator);
    if (is_scalar()) return maxsd(a, source);
    is_legacy() ? maxpd(a, source) : vmaxpd(a, a, source);
}

void Emitter::sum_words(int destination, int addend, const Xbyak::Address& source)
{
    if (!is_legacy()) return vpaddq(vector(destination), vector(addend), source);
    load(destination, source);
    paddq(vector(destination), vector(addend));
}

void Emitter::accumulate(int accumulator, const Xbyak::Operand& addend)
{
    const Xbyak::Xmm a = vector(accumulator);
    if (is_scalar()) return is_double() ? addsd(a, addend) : addss(a, addend);
    if (is_legacy()) return is_double() ? addpd(a, addend) : addps(a, addend);
    if (is_half()) return vaddph(a, a, addend);
    is_double() ? vaddpd(a, a, addend) : vaddps(a, a, addend);
}

void Emitter::subtract(int accumulator, const Xbyak::Operand& numbers)
{
    const Xbyak::Xmm a = vector(accumulator);
    if (is_scalar()) return subsd(a, numbers);
    is_legacy() ? subpd(a, numbers) : vsubpd(a, a, numbers);
}

void Emitter::sum(int destination, int first, const Xbyak::Address& second)
{
    if (!is_legacy()) return vaddpd(vector(destination), vector(first), second);
    load(destination, second);
    accumulate(destination, vector(first));
}

void Emitter::add_product(int accumulator, int first, const Xbyak::Address& second)
{
    vfmadd231pd(vector(accumulator), vector(first), second);
}

void Emitter::multiply(int accumulator, const Xbyak::Operand& factor)
{
    const Xbyak::Xmm a = vector(accumulator);
    if (is_scalar()) return is_double() ? mulsd(a, factor) : mulss(a, factor);
    if (is_legacy()) return is_double() ? mulpd(a, factor) : mulps(a, factor);
    if (is_half()) return vmulph(a, a, factor);
    is_double() ? vmulpd(a, a, factor) : vmulps(a, a, factor);
}

void Emitter::product(int destination, int first, const Xbyak::Address& second)
{
    const Xbyak::Xmm d = vector(destination);
    const Xbyak::Xmm f = vector(first);
    if (is_legacy()) {
        load(destination, second);
        return multiply(destination, f);
    }
    if (is_half()) return vmulph(d, f, second);
    is_double() ? vmulpd(d, f, second) : vmulps(d, f, second);
}

void Emitter::multiply_add(int accumulator, int factor, const Xbyak::Operand& addend)
{
    const Xbyak::Xmm a = vector(accumulator);
    const Xbyak::Xmm f = vector(factor);
    if (is_scalar()) return is_double() ? vfmadd213sd(a, f, addend) : vfmadd213ss(a, f, addend);
    if (is_half()) return vfmadd213ph(a, f, addend);
    is_double() ? vfmadd213pd(a, f, addend) : vfmadd213ps(a, f, addend);
}

void Emitter::divide(int accumulator, const Xbyak::Operand& divisor)
{
    const Xbyak::Xmm a = vector(accumulator);
    if (is_scalar()) return is_double() ? divsd(a, divisor) : divss(a, divisor);
    if (is_legacy()) return is_double() ? divpd(a, divisor) : divps(a, divisor);
    if (is_half()) return vdivph(a, a, divisor);
    is_double() ? vdivpd(a, a, divisor) : vdivps(a, a, divisor);
}

void Emitter::square_root(int accumulator)
{
    const Xbyak::Xmm a = vector(accumulator);
    if (is_scalar()) return is_double() ? sqrtsd(a, a) : sqrtss(a, a);
    if (is_legacy()) return is_double() ? sqrtpd(a, a) : sqrtps(a, a);
    if (is_half()) return vsqrtph(a, a);
    is_double() ? vsqrtpd(a, a) : vsqrtps(a, a);
}

void Emitter::add_products(int accumulator, int first, int second)
{
    const Xbyak::Xmm a = vector(accumulator);
    if (precision_ == Precision::bf16) return vdpbf16ps(a, vector(first), vector(second));
    const bool is_vex = isa_.encoding == Encoding::vex;
    vpdpbusd(a, vector(first), vector(second), is_vex ? Xbyak::VexEncoding : Xbyak::EvexEncoding);
}

void Emitter::upper_halves(int mask)
{
    const Xbyak::Xmm m = vector(mask);
    if (isa_.encoding == Encoding::evex)
        vpternlogd(m, m, m, 0xff);
    else
        vpcmpeqd(m, m, m);
    vpslld(m, m, 16);
}

void Emitter::widen(int low, int high, int from, int mask)
{
    vpslld(vector(low), vector(from), 16);
    if (isa_.encoding == Encoding::evex)
        vpandd(vector(high), vector(from), vector(mask));
    else
        vpand(vector(high), vector(from), vector(mask));
}

void Emitter::add_fp32_product(int accumulator, int first, int second)
{
    vfmadd231ps(vector(accumulator), vector(first), vector(second));
}

void Emitter::add_tile_product(int accumulator, int first, int second)
{
    const Xbyak::Tmm a(accumulator);
    const Xbyak::Tmm f(first);
    const Xbyak::Tmm s(second);
    precision_ == Precision::bf16 ? tdpbf16ps(a, f, s) : tdpbssd(a, f, s);
}

void Emitter::finish()
{
    if (!is_legacy()) vzeroupper();
    ret();
    require_generated_code();
    setProtectModeRE();
}

}  // namespace roof::cpu
