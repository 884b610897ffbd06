// The memory that the probes share: a slice for each thread, kept from subject to subject, since fresh pages cost more than
// the measurement they are for; and the record of what each piece of it holds, so that nothing is written twice.
#pragma once

#include "cpu/buffer.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace roof::cpu {

/// Word `index` of a slice's usual contents: a pseudo-random fp64 in [1, 2), as bits. Never denormal, and not compressible
/// by a memory controller that tries.
constexpr std::uint64_t content(std::uint64_t index)
{
    std::uint64_t bits = (index + 1) * 0x9e3779b97f4a7c15;
    bits ^= bits >> 29;
    bits ^= bits << 17;
    constexpr std::uint64_t exponent_of_one = 0x3ff0000000000000;
    return exponent_of_one | bits >> 12;
}

/// Writes to `to` what the bytes from `from` of a slice are to hold; both numbers are multiples of 8.
using Writer = void (*)(std::byte* to, std::size_t from, std::size_t bytes);

/// Writes content().
void write_content(std::byte* to, std::size_t from, std::size_t bytes);

/// One thread's share of the memory. Its thread is to be the first to touch it.
class Slice {
  public:
    Slice() = default;
    Slice(std::size_t bytes, const std::string& what_for, const Mapping& mapping);

    std::byte* data() const { return buffer_.data(); }
    std::size_t size() const { return buffer_.size(); }

    /// Makes the bytes from `from` hold what `writer` writes: does nothing where they already do.
    void hold(Writer writer, std::size_t from, std::size_t bytes);
    /// For bytes that the caller will write: makes their pages exist, with some content, and forgets what they hold.
    void give(std::size_t from, std::size_t bytes);

  private:
    struct Piece {
        bool touched = false;
        Writer holds = nullptr;  ///< null: something else
    };
    /// Calls use(piece, where the piece begins) for every piece that has some of the bytes.
    template <class Use>
    void for_pieces(std::size_t from, std::size_t bytes, const Use& use);
    void write(Piece& piece, std::size_t at, Writer writer);

    Buffer buffer_;
    std::vector<Piece> pieces_;
};

class Workspace {
  public:
    /// Gives each of the first `threads` slices of this mapping at least `bytes`, and where memory is plenty some more, for
    /// place(). Takes memory from other mappings if it must, and always from those of another node. Throws OutOfMemory.
    void reserve(const Mapping& mapping, int threads, std::size_t bytes);

    /// After reserve().
    Slice& slice(const Mapping& mapping, int thread) { return slices_.at(mapping)[thread]; }

    /// Where in their slices the `bytes` of a subject lie at its `round`-th round, from 0: in other pages each time, as far
    /// as the slices are large enough. Which physical pages memory lies in decides how well it fits the caches.
    std::size_t place(const Mapping& mapping, int threads, std::size_t bytes, int round) const;

  private:
    double missing(const Mapping& mapping, int threads, std::size_t bytes) const;

    std::map<Mapping, std::vector<Slice>> slices_;
};

}  // namespace roof::cpu
