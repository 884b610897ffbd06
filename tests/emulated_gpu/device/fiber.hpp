// A stack of its own on which a function runs until it waits. Switching needs no system call.
#pragma once

#include <boost/context/continuation.hpp>
#include <cstddef>
#include <functional>
#include <memory>

namespace roof::emulated {

class Fiber {
  public:
    Fiber();
    Fiber(const Fiber&) = delete;
    Fiber& operator=(const Fiber&) = delete;

    /// The function that the next resume() begins. It may not throw. Allowed when the former one has ended.
    void start(std::function<void()> function) { function_ = std::move(function); }
    /// Runs the function until it calls wait() or ends.
    void resume();
    /// To be called by the function: goes back to resume().
    void wait() { caller_ = caller_.resume(); }
    /// Ends a function that waits, as by an exception.
    void abandon() { waiting_ = {}; }

  private:
    std::size_t stack_bytes_ = std::size_t{64} << 10;
    std::unique_ptr<std::byte[]> stack_;
    std::function<void()> function_;
    boost::context::continuation waiting_;  ///< the function, while it waits
    boost::context::continuation caller_;   ///< of resume(), while the function runs
};

}  // namespace roof::emulated
