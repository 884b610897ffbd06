// The memory of the probes: one slice per thread, reused by all subjects, since new pages take longer than a
// measurement. It records the content of each piece, so that nothing is written twice.
#pragma once

#include "ert/method/bench/buffer.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace roof::cpu {

/// Word `index` of a slice's default content: the bits of a pseudo-random fp64 in [1, 2). Never denormal, and not
/// compressible.
constexpr std::uint64_t content(std::uint64_t index)
{
    std::uint64_t bits = (index + 1) * 0x9e3779b97f4a7c15;
    bits ^= bits >> 29;
    bits ^= bits << 17;
    constexpr std::uint64_t exponent_of_one = 0x3ff0000000000000;
    return exponent_of_one | bits >> 12;
}

/// Writes the content of a slice's `bytes` bytes from offset `from` to `to`. Both numbers are multiples of 8.
using Writer = void (*)(std::byte* to, std::size_t from, std::size_t bytes);

void write_content(std::byte* to, std::size_t from, std::size_t bytes);

/// One thread's share of the memory. That thread must touch it first.
class Slice {
  public:
    Slice() = default;
    Slice(std::size_t bytes, const std::string& what_for, const Mapping& mapping);

    std::byte* data() const { return buffer_.data(); }
    std::size_t size() const { return buffer_.size(); }

    /// Writes `writer`'s content to the bytes from `from` on, unless they already hold it.
    void ensure(Writer writer, std::size_t from, std::size_t bytes);
    /// Touches the pages of bytes that the caller will write, and forgets their recorded content.
    void overwrite(std::size_t from, std::size_t bytes);

  private:
    struct Piece {
        bool touched = false;
        Writer holds = nullptr;  ///< null: unknown
    };
    /// Calls use(piece, start of the piece) for every piece that overlaps the bytes.
    template <class Use>
    void for_pieces(std::size_t from, std::size_t bytes, const Use& use);
    void write(Piece& piece, std::size_t at, Writer writer);

    Buffer buffer_;
    std::vector<Piece> pieces_;
};

class Workspace {
  public:
    /// Gives each of the first `threads` slices of this mapping at least `bytes`, and more for place() if memory
    /// allows. Frees the mappings of other nodes, and other mappings if necessary. Throws OutOfMemory.
    void reserve(const Mapping& mapping, int threads, std::size_t bytes);

    /// Requires reserve().
    Slice& slice(const Mapping& mapping, int thread) { return slices_.at(mapping)[thread]; }

    /// The offset of a subject's `bytes` in its slices in round `round`, from 0. Each round uses different pages if the
    /// slices are large enough, because the physical pages decide how well the memory fits the caches.
    std::size_t place(const Mapping& mapping, int threads, std::size_t bytes, int round) const;

  private:
    double missing(const Mapping& mapping, int threads, std::size_t bytes) const;

    std::map<Mapping, std::vector<Slice>> slices_;
};

/// Counts how often a bench has made each point. A calibration measures each point in several rounds. Each round uses
/// different memory, and a result is checked only once.
class PointHistory {
  public:
    /// The number of earlier calls for this point.
    int next(const std::string& point) { return calls_[point]++; }

    bool is_checked(const std::string& what) const { return checked_.contains(what); }
    void checked(const std::string& what) { checked_.insert(what); }

  private:
    std::map<std::string, int> calls_;
    std::set<std::string> checked_;
};

}  // namespace roof::cpu
