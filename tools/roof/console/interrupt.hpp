// Ctrl-C: the first asks to stop after the launch under way, the second stops at once.
#pragma once

#include <csignal>

namespace roof {

/// Catches SIGINT and SIGTERM during its life; afterwards they act as before. One at a time.
class InterruptGuard {
  public:
    InterruptGuard();
    ~InterruptGuard();
    InterruptGuard(const InterruptGuard&) = delete;
    InterruptGuard& operator=(const InterruptGuard&) = delete;

    bool raised() const;

  private:
    struct sigaction old_interrupt_ {};
    struct sigaction old_terminate_ {};
};

}  // namespace roof
