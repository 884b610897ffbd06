// The process: its signals, the end that a library may give it, and its start anew.
#pragma once

#include <csignal>

namespace roof {

/// While it exists, an exit of the process says on standard error that a library ended it, as OpenMP's does when it cannot
/// start a thread. Only one may exist at a time.
class ExitGuard {
  public:
    ExitGuard();
    ~ExitGuard();
    ExitGuard(const ExitGuard&) = delete;
    ExitGuard& operator=(const ExitGuard&) = delete;
};

/// Catches SIGINT and SIGTERM while it exists, that is, while something is measured: the first stops after the current launch, the second at
/// once. The destructor restores their handlers. Only one may exist at a time.
class InterruptGuard {
  public:
    InterruptGuard();
    ~InterruptGuard();
    InterruptGuard(const InterruptGuard&) = delete;
    InterruptGuard& operator=(const InterruptGuard&) = delete;

    /// Whether such a signal came while the guard, or the last one, existed.
    static bool raised();

  private:
    struct sigaction old_interrupt_ {};
    struct sigaction old_terminate_ {};
};

/// Lets writing beyond a limit of the file size fail with a reason.
void survive_file_limits();

/// Replaces this process by a new one with the same arguments, for a device that it cannot use any more: what it measured is kept,
/// and the rest goes on. `words`: of main(). Returns only if that fails.
void start_again(char** words);

}  // namespace roof
