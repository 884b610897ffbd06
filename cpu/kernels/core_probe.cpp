// Each addition has two register operands: some cores do additions of a small constant while renaming, in no time.
#include "cpu/kernels/core_probe.hpp"

namespace roof::cpu {

namespace {

constexpr std::size_t code_bytes = 4096;

}  // namespace

CoreProbe::CoreProbe(Kind kind) : CodeGenerator(code_bytes, Xbyak::DontSetProtectRWE)
{
    const Xbyak::Reg64 chains[] = {rax, rcx, rdx, r8, r9, r10};
    const int used = kind == Kind::chain ? 1 : 6;
    Xbyak::Label loop;
    mov(r11, 1);
    align(64);
    L(loop);
    for (int i = 0; i < additions; ++i) add(chains[i % used], r11);
    dec(rdi);
    jnz(loop, T_NEAR);
    ret();
    setProtectModeRE();
}

}  // namespace roof::cpu
