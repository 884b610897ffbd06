// The process: its signals, the end that a library may give it, and its start anew.
#pragma once

#include <csignal>

namespace roof {

/// While it exists, an exit of the process says on standard error that a library ended it, as OpenMP's does when it
/// cannot start a thread. Only one may exist at a time.
class ExitGuard {
  public:
    ExitGuard();
    ~ExitGuard();
    ExitGuard(const ExitGuard&) = delete;
    ExitGuard& operator=(const ExitGuard&) = delete;
};

/// Catches SIGINT and SIGTERM while it exists, that is, while something is measured: the first stops after the current
/// launch, the second at once. One that the parent had ignored, as a script does for what it starts in the background,
/// stays ignored. The destructor restores their handlers. Only one may exist at a time.
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

/// The signals as this program needs them: writing beyond a limit of the file size fails with a reason, and the end of
/// a child is told, also where the parent had it ignored.
void prepare_signals();

/// Replaces this process by a new one with the same arguments, for a device that it cannot use any more: what it
/// measured is kept, and the rest goes on. `words`: of main(). Returns only if that fails.
void start_again(char** words);

}  // namespace roof
