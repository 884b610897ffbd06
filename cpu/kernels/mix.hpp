// A mix: which instructions a compute loop consists of, and on how many independent chains. Its loop body is a plain list
// of steps; the generator writes one instruction per step and the host reference computes the same list.
#pragma once

#include "ert/base/precision.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace roof::cpu {

/// `dot`: every 32-bit lane of the accumulator gets the sum of the products of the elements beside it (bf16, int8). `tile`:
/// the accumulator, 16 by 16 lanes, gets the product of two tiles of 16 rows of 64 bytes.
enum class Arithmetic { fma, mul, add, div, sqrt, dot, tile };

std::string_view name(Arithmetic kind);

/// Operations of one instruction in one lane of its accumulator: a multiply-add counts as two, fused or in a product.
int flops_of(Arithmetic kind, Precision precision);

/// One kind of instruction in a mix. A chain is an accumulator of its own: each instruction on it waits for the one before.
struct Strand {
    Arithmetic kind;
    int chains;
    int share = 1;  ///< instructions in a row before the next strand's turn
};

struct Mix {
    std::vector<Strand> strands;  ///< one or two

    int chains() const;
    /// Registers of constants that the instructions read: three at most.
    int constants() const;
    bool uses(Arithmetic kind) const;
    /// "12 fma + 12 add chains"; where the shares differ, "20 fma + 10 add chains, 2 : 1 instructions"
    std::string description() const;
};

/// One instruction on one accumulator x, with c the constant of that index, and c0 the first: fma x = x * c + c, mul x *= c,
/// add x += c, div x /= c, sqrt x = sqrt(x), dot and tile x += c0 · c. (Tiles must be three different ones.)
struct Step {
    Arithmetic operation;
    int accumulator;
    int constant;
};

/// The loop body: strands take turns, each strand's chains take turns, and every chain gets an even number of steps. These
/// read constants 0 and 1 by turns in divisions, 1 and 2 in dot and tile, and always 0 in the others.
std::vector<Step> body(const Mix& mix);

double flops_per_lane(const std::vector<Step>& steps, Precision precision);

}  // namespace roof::cpu
