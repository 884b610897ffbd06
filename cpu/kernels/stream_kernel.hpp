// A loop over arrays in memory: loads, stores, copies, an update in place, or the triad a[i] = b[i] + s * c[i] (fp64).
#pragma once

#include "cpu/kernels/emitter.hpp"

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace roof::cpu {

enum class Movement { load, store, copy, update, triad };

/// The cost of one element. Bytes are those that the instructions read and write. A store that misses also reads its
/// line first (write-allocate); that traffic is not counted. A non-temporal store does not cause it.
struct Stream {
    std::string_view name;  ///< as in plans
    Movement movement;
    int loads;         ///< per element
    int stores;        ///< per element
    int flops;         ///< per fp64 element
    bool nontemporal;  ///< stores bypass the caches

    constexpr bool in_place() const { return movement == Movement::update; }
    /// Number of arrays that are only read. They lie before the destination.
    constexpr int sources() const { return in_place() ? 0 : loads; }
    constexpr int arrays() const { return sources() + stores; }
    /// Bytes read and written per byte of one array.
    constexpr int moves() const { return loads + stores; }
};

inline constexpr std::array<Stream, 7> stream_table{{
    {"load", Movement::load, 1, 0, 0, false},
    {"store", Movement::store, 0, 1, 0, false},
    {"store_nt", Movement::store, 0, 1, 0, true},
    {"copy", Movement::copy, 1, 1, 0, false},
    {"copy_nt", Movement::copy, 1, 1, 0, true},
    {"update", Movement::update, 1, 1, 0, false},
    {"triad", Movement::triad, 2, 1, 2, false},
}};

/// Throws InputError with the legal values.
const Stream& parse_stream(std::string_view name);

/// How the loop is written. The fastest shape differs between processors and levels of memory.
struct Shape {
    int vectors = 16;  ///< per array in one iteration
    int group = 1;     ///< consecutive reads before their writes; divides `vectors`
    int ahead = 0;     ///< prefetch distance of the sources in bytes; 0: no prefetch
    /// Triad: uses multiply-adds (rounded once) instead of a product and a sum.
    bool fused = false;
    /// Triad: the order of operations. "p2" computes the product of c's vector 2, "a2" adds b's, "s2" stores. Empty:
    /// vector by vector, or group by group.
    std::string_view order{};

    /// "16 per iteration, groups of 4, prefetch 1024 bytes ahead"; "4 per iteration, woven"
    std::string text() const;
};

/// The shapes to try. `beyond_l1`: the arrays exceed L1, so prefetching may help. `can_fuse`: includes multiply-adds.
std::vector<Shape> shapes_of(const Stream& stream, bool beyond_l1, bool can_fuse);

class StreamKernel : public Emitter {
  public:
    /// The caller checks that the processor has the instructions. Throws Unsupported for a non-temporal store of
    /// scalars.
    StreamKernel(const Isa& isa, const Stream& stream, const Shape& shape);

    /// Bytes of each array that one iteration covers.
    static std::size_t bytes_per_iteration(const Isa& isa, const Shape& shape);

    /// Upper bound of the bytes of registers that `load` returns.
    static constexpr int most_result_bytes = 8 * 64;

    struct Arguments {
        std::byte* destination = nullptr;     ///< all but load; update: the one array
        const std::byte* first = nullptr;     ///< source of load, copy; b of the triad
        const std::byte* second = nullptr;    ///< c of the triad
        const std::byte* constant = nullptr;  ///< a register: stored by store, added by update, s of the triad
        std::byte* result = nullptr;  ///< load: registers whose 64-bit words add up to the sum of all words loaded
    };
    /// `bytes`: size of each array, a positive multiple of bytes_per_iteration. `passes`: at least 1. Pointers in use
    /// are aligned to 64 bytes. On return, non-temporal stores have left the processor's buffers.
    void run(std::size_t passes, std::size_t bytes, const Arguments& arguments) const;

  private:
    void generate();
    std::vector<Xbyak::Reg64> used_pointers() const;
    void emit_iteration();
    void emit_in_order();
    void emit_prefetch(int offset);
    void emit_product(int index);
    void emit_sum(int index);
    void emit_read(int index);
    void emit_write(int index);
    int accumulators() const;

    Stream stream_;
    Shape shape_;
};

}  // namespace roof::cpu
