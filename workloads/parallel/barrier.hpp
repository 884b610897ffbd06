// A barrier in memory that processes share: who comes last lets all others through. Waiting takes no processor.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

namespace roof::parallel {

/// All zero at first.
struct Barrier {
    std::atomic<std::uint32_t> arrived{0};
    std::atomic<std::uint32_t> opened{0};  ///< how often it let all through

    /// Waits until as many as `ranks` have come. `watch` is called some times a second meanwhile, and throws to give up.
    void pass(std::uint32_t ranks, const std::function<void()>& watch);
};

}  // namespace roof::parallel
