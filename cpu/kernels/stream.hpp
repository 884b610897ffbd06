// The operations on arrays in memory, one table row each, under the names that plans use.
#pragma once

#include <array>
#include <string_view>

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

    /// Per element.
    constexpr int loads() const { return sources + (in_place ? 1 : 0); }
    constexpr int arrays() const { return sources + stores; }
    /// Bytes read and written per byte of one array.
    constexpr int moves() const { return loads() + stores; }
    constexpr bool only_reads() const { return stores == 0; }
};

/// `update` adds a constant to each 64-bit word. `accumulate` and `accumulate_two` add the words of one and of two other
/// arrays, so they read two and three bytes for each byte written. `triad`: a[i] = b[i] + s * c[i] in fp64.
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

}  // namespace roof::cpu
