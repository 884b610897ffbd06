// Ctrl-C: the first stops after the current launch, the second at once.
#pragma once

#include <csignal>

namespace roof {

/// Catches SIGINT and SIGTERM while it exists; the destructor restores their handlers. Only one may exist at a time.
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
