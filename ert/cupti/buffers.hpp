// The buffers that CUPTI fills with records: as many as it needs at once, used again and again. Asking the system for memory in
// the middle of a step would be seen in its time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace roof::cupti {

/// May be used from several threads.
class Buffers {
  public:
    /// `bytes` each, `most` at once.
    Buffers(std::size_t bytes, std::size_t most) : bytes_(bytes), most_(most) {}

    /// Aligned to eight bytes, as CUPTI wants it; null once `most` are in use: what CUPTI cannot store it drops, and counts.
    std::uint8_t* take();
    /// One that take() gave out.
    void give_back(std::uint8_t* buffer);

    std::size_t bytes() const { return bytes_; }
    /// Of those made so far, in use or not.
    std::size_t made() const;

  private:
    std::size_t bytes_;
    std::size_t most_;
    mutable std::mutex mutex_;
    std::vector<std::unique_ptr<std::uint64_t[]>> all_;
    std::vector<std::uint8_t*> free_;
};

}  // namespace roof::cupti
