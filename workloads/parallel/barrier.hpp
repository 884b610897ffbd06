// A barrier in memory that processes share: the last to arrive releases all. Waiting uses no processor.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

namespace roof::parallel {

/// All zero at first.
struct Barrier {
    std::atomic<std::uint32_t> arrived{0};
    std::atomic<std::uint32_t> opened{0};  ///< times it has released all

    /// Waits until `ranks` have arrived. Calls `watch` some times a second, which throws to give up.
    void pass(std::uint32_t ranks, const std::function<void()>& watch);
};

}  // namespace roof::parallel
