// A loop of arithmetic on registers as data, for one instruction set, precision and mix. Generators write its
// instructions: x86-64's (compute_kernel.hpp) and AArch64's (cpu/aarch64).
#pragma once

#include "cpu/isa.hpp"
#include "ert/base/formats.hpp"
#include "ert/base/precision.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace roof::cpu {

// A mix: the instructions of a compute loop and the number of independent chains. The loop body is a list of steps. A
// generator writes one instruction per step, and the host reference computes the same list.

/// `dot`: each 32-bit lane of the accumulator adds the sum of the products of the elements in that lane (bf16, int8).
/// `widened`: the same sum for bf16 by two fma in fp32, of elements widened to fp32. The instructions that widen run
/// once for all chains, as in a loop that keeps a tile of sums in registers.
/// `tile`: the accumulator, 16 by 16 lanes, adds the product of two tiles of 16 rows of 64 bytes.
enum class Arithmetic { fma, mul, add, div, sqrt, dot, tile, widened };

std::string_view name(Arithmetic kind);

/// Operations of one instruction in one lane of its accumulator. A multiply-add counts as two, fused or in a product.
int flops_of(Arithmetic kind, Precision precision);

/// One kind of instruction in a mix. Each chain has its own accumulator, and each instruction of a chain depends on the
/// one before.
struct Strand {
    Arithmetic kind;
    int chains;
    int share = 1;  ///< consecutive instructions before the next strand's turn
};

struct Mix {
    std::vector<Strand> strands;  ///< one or two

    int chains() const;
    /// Registers of constants that the instructions read, at most three.
    int constants() const;
    /// Registers beside chains and constants.
    int scratch() const;
    bool uses(Arithmetic kind) const;
    /// True if the accumulators sum products of the constants' elements.
    bool sums_products() const;
    /// "12 fma + 12 add chains"; with unequal shares, "20 fma + 10 add chains, 2 : 1 instructions"
    std::string description() const;
};

/// One instruction on one accumulator x. c is the constant of that index, c0 the first constant. fma: x = x * c + c,
/// on AArch64 x + c * c, mul: x *= c, add: x += c, div: x /= c, sqrt: x = sqrt(x), dot, widened and tile: x += c0 · c.
/// The three tiles must differ.
struct Step {
    Arithmetic operation;
    int accumulator;
    int constant;
};

/// The loop body. Strands alternate, the chains of each strand alternate, and every chain gets an even number of steps.
/// Divisions read constants 0 and 1 in turns, dot, widened and tile 1 and 2, and the others always 0.
std::vector<Step> body(const Mix& mix);

double flops_per_lane(const std::vector<Step>& steps, Precision precision);

class ComputeLoop {
  public:
    /// Throws Unsupported for a combination that no processor has (operations.hpp), and Error for more chains than
    /// registers.
    ComputeLoop(const Isa& isa, Precision precision, const Mix& mix);

    const Isa& isa() const { return isa_; }
    Precision precision() const { return precision_; }
    const Mix& mix() const { return mix_; }
    const std::vector<Step>& steps() const { return steps_; }
    /// FLOPs of one iteration of the loop, all lanes.
    double flops_per_iteration() const { return flops_per_iteration_; }

    /// The accumulators' format: the precision's, or the format that products are summed in (fp32, int32).
    Format accumulator_format() const;
    /// Number of lanes of an accumulator that an instruction works on, from the first lane of its register.
    int lanes() const;

    /// The register of a constant: the last holds the first constant, the one before it the second, and so on.
    int constant_register(int constant) const { return isa_.registers - 1 - constant; }
    int scratch_register(int index) const { return constant_register(mix_.constants()) - index; }

  private:
    Isa isa_;
    Precision precision_;
    Mix mix_;
    std::vector<Step> steps_;
    double flops_per_iteration_;
};

}  // namespace roof::cpu
