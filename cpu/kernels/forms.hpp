// The forms of the loops over arrays, as data: how an iteration is written. The fastest form differs between processors
// and levels of memory, so a search tries all of them.
#pragma once

#include "cpu/kernels/stream.hpp"

#include <compare>
#include <string>
#include <vector>

namespace roof::cpu {

/// What a loop that only reads does with the data: nothing, or it joins them to accumulators with memory operands: the
/// sum of their 64-bit words, the `or` of their bits, or the maximum of their fp64 numbers. On some cores a load that feeds
/// arithmetic is slower than a plain one.
enum class Join { none, sum, bits, maximum };

/// Each array has a pointer that advances, or all share one counter as index register. An index register splits stores
/// and arithmetic with a memory operand in two on some cores; pointers cost an addition each.
enum class Addressing { pointers, counter };

struct Form {
    int vectors = 4;  ///< of each part of each array in one iteration
    Join join = Join::sum;
    Addressing addressing = Addressing::pointers;
    int parts = 1;  ///< equal parts of each array that the loop passes over side by side: 1, 2 or 4
    int ahead = 0;  ///< prefetch distance of the arrays that are read, in bytes; 0: no prefetch
    /// Number of vectors by which each step of an element follows the step before. 0: all steps of a vector, then the next
    /// vector.
    int lag = 0;
    bool fused = false;  ///< triad: multiply-adds (rounded once) instead of a product and a sum

    auto operator<=>(const Form&) const = default;
    /// "plain loads, 4 per iteration, counter, 2 parts, prefetch 1024 bytes ahead"
    std::string text(const Stream& stream) const;
};

/// The forms to try. `beyond_l1`: the arrays exceed L1, so prefetching and several parts may help. `can_fuse`: includes
/// multiply-adds.
std::vector<Form> forms_of(const Stream& stream, bool beyond_l1, bool can_fuse);

}  // namespace roof::cpu
