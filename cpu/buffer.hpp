// Memory for the probes: on huge pages where the system grants them, and first touched by the threads that use it, so that
// page size and placement do not stand between a probe and its ceiling.
#pragma once

#include "cpu/affinity.hpp"
#include "ert/base/units.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace roof::cpu {

/// Gives a mapping back.
struct Unmap {
    std::size_t bytes = 0;
    void operator()(std::byte* data) const;
};

/// A mapping aligned to 2 MiB, with transparent huge pages asked for. Its pages do not exist before they are touched.
class HugeBuffer {
  public:
    HugeBuffer() = default;
    /// Throws OutOfMemory when the system says it would not hold `bytes`, or refuses them.
    HugeBuffer(std::size_t bytes, const std::string& what_for);

    std::byte* data() const { return data_.get(); }
    std::size_t size() const { return data_.get_deleter().bytes; }

  private:
    std::unique_ptr<std::byte, Unmap> data_;
};

/// Word `index` of a slice's contents: a pseudo-random fp64 in [1, 2), as bits. Never denormal, and not compressible by a
/// memory controller that tries.
constexpr std::uint64_t content(std::uint64_t index)
{
    std::uint64_t bits = (index + 1) * 0x9e3779b97f4a7c15;
    bits ^= bits >> 29;
    bits *= 0xbf58476d1ce4e5b9;
    constexpr std::uint64_t exponent_of_one = 0x3ff0000000000000;
    return exponent_of_one | bits >> 12;
}

/// A slice of memory for each thread of a team, on pages of its own. Slices grow and are kept, since fresh pages cost more
/// than the measurement they are for.
class Workspace {
  public:
    /// Gives each of the first `threads` slices at least `bytes`. Throws OutOfMemory.
    void reserve(int threads, std::size_t bytes);

    std::byte* slice(int thread) const { return slices_[thread].data(); }

    /// Thread i of the team writes content() into the first `bytes` (a multiple of 8) of slice i, and so is the first to
    /// touch its pages.
    void fill(const PinnedTeam& team, std::size_t bytes) const;

  private:
    std::vector<HugeBuffer> slices_;
};

}  // namespace roof::cpu
