// An operation on arrays in memory, read from its text: "a[i] = b[i] + s * c[i]". What it loads, stores and computes
// follows from the text alone: for the loops that a CPU measures, and for the mix of reads and writes of its ceiling.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace roof {

/// The text is `TARGET = TERM + TERM - TERM …`, or with `+=`, `-=`, `*=`. A term is a product of arrays `b[i]` and at
/// most one scalar `s`. Each array appears once, the target's also as a term; at most four in all. Elements are fp64.
///
/// - A scalar as target sums: "s += a[i] * b[i]". An array alone, "a[i]", is only read. One term may be a scalar alone.
/// - "int64: a[i] += b[i]" adds 64-bit words and has no FLOPs.
/// - "nontemporal: a[i] = b[i]" stores past the caches.
///
/// Bytes are those that the instructions read and write. A store that misses also reads its line first
/// (write-allocate); that traffic is not counted. A non-temporal store does not cause it.
struct ArrayOperation {
    static constexpr int scalar = -1;
    /// The sources are numbered from 0 in the order of the text; the destination comes after them.
    struct Term {
        bool is_subtracted = false;
        std::vector<int> factors;  ///< arrays; `scalar`, if there is one, is the first

        bool has_scalar() const { return factors.front() == scalar; }
        bool is_scalar() const { return has_scalar() && factors.size() == 1; }
        bool is_array() const { return !has_scalar() && factors.size() == 1; }
    };

    std::string name;          ///< a usual name, or the text without spaces
    int sources = 0;           ///< arrays that are only read. In memory they lie before the destination.
    bool in_place = false;     ///< the destination is read, too
    int stores = 0;            ///< per element
    bool words = false;        ///< of 64-bit integers
    bool nontemporal = false;  ///< stores bypass the caches
    /// In the order in which they are added: products with the scalar, arrays, products of arrays, a scalar alone, what
    /// is subtracted. Empty if the array is only read.
    std::vector<Term> terms;

    int loads() const { return sources + (in_place ? 1 : 0); }
    int arrays() const { return sources + stores; }
    /// Bytes read and written per byte of one array.
    int moves() const { return loads() + stores; }
    bool only_reads() const { return stores == 0; }
    bool only_loads() const { return terms.empty(); }
    /// Over all elements.
    bool sums() const { return only_reads() && !only_loads(); }
    /// Per element.
    int flops() const;
};

/// A usual name ("load", "store", "store_nt", "copy", "copy_nt", "update", "accumulate", "accumulate_two", "triad") or
/// a text. Throws InputError with the column of what is wrong.
ArrayOperation parse_array_operation(std::string_view text);

/// The same; nothing where the text is no such operation.
std::optional<ArrayOperation> array_operation(std::string_view text);

struct UsualOperation {
    std::string_view name;
    std::string_view text;
};

/// The operations that have a name. `update` adds a constant to each 64-bit word. `accumulate` and `accumulate_two` add
/// the words of one and of two other arrays, so they read two and three bytes for each byte written.
inline constexpr UsualOperation usual_operations[] = {
    {"load", "a[i]"},
    {"store", "a[i] = s"},
    {"store_nt", "nontemporal: a[i] = s"},
    {"copy", "a[i] = b[i]"},
    {"copy_nt", "nontemporal: a[i] = b[i]"},
    {"update", "int64: a[i] += s"},
    {"accumulate", "int64: a[i] += b[i]"},
    {"accumulate_two", "int64: a[i] += b[i] + c[i]"},
    {"triad", "a[i] = b[i] + s * c[i]"},
};

/// All of them, in this order.
const std::vector<ArrayOperation>& usual_array_operations();

}  // namespace roof
