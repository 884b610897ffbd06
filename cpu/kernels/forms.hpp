// The forms of the loops over arrays in memory, as data: how an iteration is written. The fastest form differs between
// processors and levels of memory, so a search tries all of them. Generators write the instructions: x86-64's
// (stream_kernel.hpp) and AArch64's (cpu/aarch64).
#pragma once

#include "ert/base/names.hpp"
#include "ert/method/bench/array_operation.hpp"

#include <compare>
#include <string>
#include <vector>

namespace roof::cpu {

/// What a loop that only reads does with the data: nothing, or it joins them to accumulators with memory operands: the
/// sum of their 64-bit words, the `or` of their bits, or the maximum of their fp64 numbers. On some cores a load that
/// feeds arithmetic is slower than a plain one.
enum class Join { none, sum, bits, maximum };
constexpr EnumNames<Join::maximum> names_of(Join)
{
    return {"join", {"plain loads", "summed", "joined by or", "joined by maximum"}};
}

/// Each array has a pointer that advances, or all share one counter as index register. An index register splits stores
/// and arithmetic with a memory operand in two on some cores; pointers cost an addition each.
enum class Addressing { pointers, counter };

struct Form {
    int vectors = 4;  ///< of each part of each array in one iteration
    Join join = Join::sum;
    Addressing addressing = Addressing::pointers;
    int parts = 1;  ///< equal parts of each array that the loop passes over side by side: 1, 2 or 4
    int ahead = 0;  ///< prefetch distance of the arrays that are read, in bytes; 0: no prefetch
    /// Number of vectors by which each step of an element follows the step before. 0: all steps of a vector, then the
    /// next vector.
    int lag = 0;
    bool fused = false;  ///< multiply-adds (rounded once) instead of products and sums

    auto operator<=>(const Form&) const = default;
    /// "plain loads, 4 per iteration, counter, 2 parts, prefetch 1024 bytes ahead"
    std::string text(const ArrayOperation& operation) const;
};

/// What one vector of a part of an array is used for. `value` is the vector's register, `scratch` another that is free
/// between the steps of a term.
struct StreamStep {
    enum class Kind {
        load,          ///< target = memory
        product,       ///< target = the constant * memory
        constant_sum,  ///< target = the constant + memory
        multiply,      ///< target *= memory
        add,           ///< value += operand
        subtract,      ///< value -= operand
        multiply_add,  ///< value = value * the constant + memory
        add_product,   ///< value += operand * memory
        join,          ///< value and memory, as the form's Join says
        store
    };
    enum class Operand { memory, constant, scratch };
    Kind kind;
    int array;                ///< of the memory: the sources, then the destination; -1 if none is accessed
    bool to_scratch = false;  ///< the target is the scratch register
    Operand operand = Operand::memory;
    int part = 0;
    int vector = 0;
    int value = 0;  ///< the register of the value, from 0
};

/// The steps of one iteration in order. The steps of a vector come one after another, each `lag` vectors after the one
/// before.
std::vector<StreamStep> iteration(const ArrayOperation& operation, const Form& form);

/// Registers that values alternate over, and that an operation that only reads stores at its end.
int values_of(const Form& form);

/// The register, from 0, of that vector of that part.
int value_of(const Form& form, int vector, int part);

/// The forms to try. `beyond_l1`: the arrays exceed L1, so prefetching and several parts may help. `can_fuse`: includes
/// multiply-adds.
std::vector<Form> forms_of(const ArrayOperation& operation, bool beyond_l1, bool can_fuse);

}  // namespace roof::cpu
