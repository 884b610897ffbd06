// The operations on arrays in memory, one table row each, under the names that plans use; and the forms of the loops
// over them, as data: how an iteration is written. The fastest form differs between processors and levels of memory, so
// a search tries all of them. Generators write the instructions: x86-64's (stream_kernel.hpp) and AArch64's
// (cpu/aarch64).
#pragma once

#include "ert/base/names.hpp"

#include <array>
#include <compare>
#include <string>
#include <string_view>
#include <vector>

namespace roof::cpu {

/// The cost of one element. Bytes are those that the instructions read and write. A store that misses also reads its
/// line first (write-allocate); that traffic is not counted. A non-temporal store does not cause it.
struct Stream {
    std::string_view name;
    int sources;       ///< arrays that are only read. They lie before the destination.
    bool in_place;     ///< the destination is read, too
    int stores;        ///< per element
    int flops;         ///< per fp64 element
    bool nontemporal;  ///< stores bypass the caches

    constexpr int loads() const { return sources + (in_place ? 1 : 0); }
    constexpr int arrays() const { return sources + stores; }
    /// Bytes read and written per byte of one array.
    constexpr int moves() const { return loads() + stores; }
    constexpr bool only_reads() const { return stores == 0; }
};

/// `update` adds a constant to each 64-bit word. `accumulate` and `accumulate_two` add the words of one and of two
/// other arrays, so they read two and three bytes for each byte written. `triad`: a[i] = b[i] + s * c[i] in fp64.
inline constexpr std::array<Stream, 9> stream_table{{
    {"load", 1, false, 0, 0, false},
    {"store", 0, false, 1, 0, false},
    {"store_nt", 0, false, 1, 0, true},
    {"copy", 1, false, 1, 0, false},
    {"copy_nt", 1, false, 1, 0, true},
    {"update", 0, true, 1, 0, false},
    {"accumulate", 1, true, 1, 0, false},
    {"accumulate_two", 2, true, 1, 0, false},
    {"triad", 2, false, 1, 2, false},
}};

/// Throws InputError with the legal values.
const Stream& parse_stream(std::string_view name);

/// What a loop that only reads does with the data: nothing, or it joins them to accumulators with memory operands: the
/// sum of their 64-bit words, the `or` of their bits, or the maximum of their fp64 numbers. On some cores a load that
/// feeds arithmetic is slower than a plain one.
enum class Join { none, sum, bits, maximum };
constexpr EnumNames<Join, 4> names_of(Join)
{
    return {"join",
            {{{Join::none, "plain loads"},
              {Join::sum, "summed"},
              {Join::bits, "joined by or"},
              {Join::maximum, "joined by maximum"}}}};
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
    bool fused = false;  ///< triad: multiply-adds (rounded once) instead of a product and a sum

    auto operator<=>(const Form&) const = default;
    /// "plain loads, 4 per iteration, counter, 2 parts, prefetch 1024 bytes ahead"
    std::string text(const Stream& stream) const;
};

/// What one vector of a part of an array is used for. `add` and `join` combine it with the value, `add_constant` stores
/// its sum with a constant in the value, `product` its product with one; `sum` adds it. With `fused`, `product` loads,
/// and `sum` multiplies the value by the constant, too.
struct StreamStep {
    enum class Kind { load, join, add, add_constant, product, sum, store };
    Kind kind;
    int array;  ///< the sources, then the destination
    int part;
    int vector;
    int value;  ///< the register of the value, from 0
};

/// The steps of one iteration in order. The steps of a vector come one after another, each `lag` vectors after the one
/// before.
std::vector<StreamStep> iteration(const Stream& stream, const Form& form);

/// Registers that values alternate over, and that a stream that only reads stores at its end.
int values_of(const Form& form);

/// The register, from 0, of that vector of that part.
int value_of(const Form& form, int vector, int part);

/// The forms to try. `beyond_l1`: the arrays exceed L1, so prefetching and several parts may help. `can_fuse`: includes
/// multiply-adds.
std::vector<Form> forms_of(const Stream& stream, bool beyond_l1, bool can_fuse);

}  // namespace roof::cpu
