// Each addition has two register operands: some cores eliminate additions of a small constant at renaming.
#include "cpu/kernels/core_probe.hpp"

#include "ert/base/process.hpp"

#include <algorithm>
#include <cmath>

namespace roof::cpu {
namespace {

constexpr std::size_t code_bytes = 4096;

/// The shortest time of several tries.
Seconds least_time_of(const CoreProbe& chain, std::size_t iterations, const Clock& clock)
{
    constexpr int tries = 9;
    Seconds least{1e9};
    for (int i = 0; i < tries; ++i) {
        const Seconds begin = clock();
        chain.run(iterations);
        least = std::min(least, clock() - begin);
    }
    return least;
}

int measure_clocks_of_multiplication(const Clock& clock)
{
    constexpr std::size_t iterations = 400;
    constexpr double near_enough = 0.15;
    constexpr int most = 12;
    const CoreProbe additions{CoreProbe::Kind::additions};
    const CoreProbe multiplications{CoreProbe::Kind::multiplications};
    const double clocks =
        least_time_of(multiplications, iterations, clock) / least_time_of(additions, iterations, clock);
    const double whole = std::round(clocks);
    return whole >= 1 && whole <= most && std::abs(clocks - whole) < near_enough ? static_cast<int>(whole) : 0;
}

}  // namespace

CoreProbe::CoreProbe(Kind kind) : CodeGenerator(code_bytes, Xbyak::DontSetProtectRWE)
{
    const Xbyak::Reg64 chains[] = {rax, rcx, rdx, r8, r9, r10};
    const int used = kind == Kind::independent ? 6 : 1;
    Xbyak::Label loop;
    mov(r11, 1);
    align(64);
    L(loop);
    for (int i = 0; i < operations; ++i) {
        if (kind == Kind::multiplications)
            imul(rax, r11);
        else
            add(chains[i % used], r11);
    }
    dec(rdi);
    jnz(loop, T_NEAR);
    ret();
    require_generated_code();
    setProtectModeRE();
}

int clocks_of_multiplication(const Clock& clock)
{
    static const int clocks = measure_clocks_of_multiplication(clock);
    return clocks;
}

}  // namespace roof::cpu
