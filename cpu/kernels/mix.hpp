// Instruction mixes of the compute ceilings: one table, one row each, and the loop body a row stands for. The body is a
// plain list of steps; the generator writes one instruction per step and the host reference computes the same list.
#pragma once

#include <array>
#include <string_view>
#include <vector>

namespace roof::cpu {

enum class Arithmetic { fma, mul, add };

/// A fused multiply-add counts as two floating-point operations.
constexpr int flops_of(Arithmetic operation)
{
    return operation == Arithmetic::fma ? 2 : 1;
}

/// Chains are independent accumulators; each kind of operation present appears equally often in the body. The pipes start
/// up to two operations of a kind per clock, which take four clocks (an add: three where it has pipes of its own): hence
/// at least eight, or six, chains of a kind where registers are few.
struct Mix {
    std::string_view name;  ///< as in plans
    int fma_chains;
    int mul_chains;
    int add_chains;

    constexpr int chains() const { return fma_chains + mul_chains + add_chains; }
    constexpr bool needs_fma() const { return fma_chains > 0; }
    constexpr Mix times(int factor) const
    {
        return {name, fma_chains * factor, mul_chains * factor, add_chains * factor};
    }
};

/// For 16 registers, of which two hold constants. Instruction sets with 32 get twice the chains.
inline constexpr std::array<Mix, 5> mix_table{{
    {"fma", 12, 0, 0},
    {"mul+add", 0, 8, 6},
    {"fma+add", 8, 0, 6},
    {"add", 0, 0, 12},
    {"mul", 0, 12, 0},
}};

/// Throws InputError naming the legal values.
const Mix& parse_mix(std::string_view name);

/// One instruction on one accumulator: *= factor, += addend, or both at once.
struct Step {
    Arithmetic operation;
    int accumulator;
};

/// The loop body, kinds interleaved, every chain of a kind with equally many steps.
std::vector<Step> body(const Mix& mix);

double flops_per_lane(const std::vector<Step>& steps);

struct Constants {
    double factor;
    double addend;
};

/// Keep every value normal for any number of iterations, from a start in [1, 2]: an fma chain swings between x and 3 - x,
/// exactly; a product between x and -x; a sum grows by 3 until 3 is below its last place, and stays there.
inline constexpr Constants steady_constants{-1.0, 3.0};

/// Make every step show in the result; good for a few hundred iterations.
inline constexpr Constants telling_constants{1.0078125, 0.3125};

}  // namespace roof::cpu
