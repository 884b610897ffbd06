// A loop that moves memory: loads, stores, copies or the triad a[i] = b[i] + s * c[i] (fp64) over arrays, many times.
#pragma once

#include "cpu/kernels/emitter.hpp"

#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

namespace roof::cpu {

enum class Movement { load, store, copy, triad };

/// What one element costs: counted are the bytes that the instructions read and write. A store that misses also reads its
/// line into the cache first (write-allocate); that traffic is real, and not counted.
struct Stream {
    std::string_view name;  ///< as in plans
    Movement movement;
    int loads;   ///< per element
    int stores;  ///< per element
    int flops;   ///< per fp64 element

    constexpr int arrays() const { return loads + stores; }
};

inline constexpr std::array<Stream, 4> stream_table{{
    {"load", Movement::load, 1, 0, 0},
    {"store", Movement::store, 0, 1, 0},
    {"copy", Movement::copy, 1, 1, 0},
    {"triad", Movement::triad, 2, 1, 2},
}};

/// Throws InputError naming the legal values.
const Stream& parse_stream(std::string_view name);

class StreamKernel : public Emitter {
  public:
    /// `fused`: the triad's arithmetic as one multiply-add instruction. That the processor has the instructions is the
    /// caller's care.
    StreamKernel(const Isa& isa, const Stream& stream, bool fused);

    /// Bytes of each array that one iteration of the loop covers.
    static std::size_t bytes_per_iteration(const Isa& isa, const Stream& stream);
    /// Accumulators that `load` leaves in `registers`.
    int accumulators() const;

    struct Arguments {
        std::byte* destination = nullptr;     ///< of store, copy, triad
        const std::byte* first = nullptr;     ///< source of load, copy; b of the triad
        const std::byte* second = nullptr;    ///< c of the triad
        const std::byte* constant = nullptr;  ///< a register: what store stores; s of the triad
        std::byte* registers = nullptr;       ///< load: accumulators() registers are added up into here
    };
    /// `bytes`: of each array, a positive multiple of bytes_per_iteration. `passes`: at least 1. Pointers in use are
    /// aligned to 64 bytes.
    void run(std::size_t passes, std::size_t bytes, const Arguments& arguments) const;

  private:
    void generate();
    void emit_iteration();

    Stream stream_;
    bool fused_;
};

}  // namespace roof::cpu
