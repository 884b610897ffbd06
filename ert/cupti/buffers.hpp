// The buffers that CUPTI fills with records. They are reused, because an allocation in the middle of a step would show
// in its time.
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
    /// `bytes` each, at most `max` at once.
    Buffers(std::size_t bytes, std::size_t max) : bytes_(bytes), max_(max) {}

    /// Aligned to eight bytes, as CUPTI requires. Null if all are in use; CUPTI then drops records and counts them.
    std::uint8_t* take()
    {
        const std::lock_guard lock(mutex_);
        if (!free_.empty()) {
            std::uint8_t* const buffer = free_.back();
            free_.pop_back();
            return buffer;
        }
        if (all_.size() == max_) return nullptr;
        all_.push_back(std::make_unique<std::uint64_t[]>(bytes_ / sizeof(std::uint64_t)));
        return reinterpret_cast<std::uint8_t*>(all_.back().get());
    }
    /// A buffer from take().
    void give_back(std::uint8_t* buffer)
    {
        const std::lock_guard lock(mutex_);
        free_.push_back(buffer);
    }

    std::size_t bytes() const { return bytes_; }
    /// Buffers made so far, in use or not.
    std::size_t made() const
    {
        const std::lock_guard lock(mutex_);
        return all_.size();
    }

  private:
    std::size_t bytes_;
    std::size_t max_;
    mutable std::mutex mutex_;
    std::vector<std::unique_ptr<std::uint64_t[]>> all_;
    std::vector<std::uint8_t*> free_;
};

}  // namespace roof::cupti
