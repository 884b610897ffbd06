// The memory of a network: one mapping, aligned to huge pages, with huge pages advised, initially zero.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace roof::onednn {

class Arena {
  public:
    Arena() = default;
    /// Throws OutOfMemory, naming `what_for`, before it touches memory if less than `bytes` is available.
    Arena(std::size_t bytes, const std::string& what_for);

    std::byte* at(std::size_t offset) const { return begin_ + offset; }
    std::size_t size() const { return size_; }

  private:
    struct Unmap {
        std::size_t bytes;
        void operator()(void* mapping) const;
    };
    std::unique_ptr<void, Unmap> mapping_;
    std::byte* begin_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace roof::onednn
