#include "ert/cupti/buffers.hpp"

namespace roof::cupti {

std::uint8_t* Buffers::take()
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

void Buffers::give_back(std::uint8_t* buffer)
{
    const std::lock_guard lock(mutex_);
    free_.push_back(buffer);
}

std::size_t Buffers::made() const
{
    const std::lock_guard lock(mutex_);
    return all_.size();
}

}  // namespace roof::cupti
