// Offsets of blocks in one piece of memory. A block is needed from the first moment that uses it to the last; blocks
// that are never needed at the same moment may share bytes.
#pragma once

#include <cstddef>
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

}  // namespace roof::engine
