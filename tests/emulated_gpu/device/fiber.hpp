// A stack of its own on which a function runs until it waits. Switching needs no system call.
#pragma once

#include <csetjmp>
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
    void start(std::function<void()> function);
    /// Runs the function until it calls wait() or ends. Returns whether it has ended.
    bool resume();
    /// To be called by the function: goes back to resume().
    void wait();
    /// Forgets a function that waits, without running the destructors on its stack.
    void abandon();

  private:
    static void enter(unsigned low, unsigned high);
    [[noreturn]] void run();

    std::unique_ptr<std::byte[]> stack_;
    std::size_t shift_ = 0;
    std::function<void()> function_;
    std::jmp_buf here_;
    std::jmp_buf caller_;
    bool is_prepared_ = false;
    bool has_ended_ = true;
};

}  // namespace roof::emulated
