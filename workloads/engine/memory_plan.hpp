// Offsets of blocks in one piece of memory: those that are never needed at once, each from the first moment that uses
// it to the last, may share bytes. And the memory of a whole step on a CPU, of which that piece is a part.
#pragma once

#include "ert/base/units.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace roof::engine {

class MemoryPlan {
  public:
    /// A block of `bytes`; returns its index. It takes no memory until it is used or kept.
    int add(std::size_t bytes);
    /// The block is needed at this moment and all between its others.
    void use(int block, int moment);
    /// The block is needed at all times.
    void keep(int block);

    /// Gives each block its offset, the largest first, each as low as it fits. Returns the bytes of the whole.
    std::size_t lay_out();
    std::size_t offset(int block) const { return blocks_[static_cast<std::size_t>(block)].offset; }

  private:
    struct Block {
        std::size_t bytes = 0;
        int first = 0;
        int last = -1;
        std::size_t offset = 0;

        bool needed() const { return first <= last; }
        std::size_t end() const { return offset + bytes; }
        bool meets(const Block& other) const { return first <= other.last && other.first <= last; }
    };
    static std::size_t lowest_gap(const Block& block, const std::vector<const Block*>& placed);

    std::vector<Block> blocks_;
};

/// The memory of a step's ranks on one machine, as a row shows it.
struct StepMemory {
    Bytes held{};   ///< by each when it is about to take the rest: code, libraries, primitives, stacks (measured)
    Bytes taken{};  ///< by each from then on: its plan, images, gradients that ranks share (analytic)
    int ranks = 1;

    /// By which `held` differs from start to start.
    static constexpr Bytes spread{2 << 20};
    Bytes whole() const { return (held + taken + spread) * ranks; }
    /// Throws OutOfMemory, with the whole, unless there is room for what is taken. Call it before anything is.
    void require(const std::string& what_for) const;
};

}  // namespace roof::engine
