// A library that ends the process, as OpenMP's does when it cannot start a thread.
#pragma once

namespace roof {

/// While it exists, an exit of the process says on standard error that a library ended it. Only one may exist at a time.
class ExitGuard {
  public:
    ExitGuard();
    ~ExitGuard();
    ExitGuard(const ExitGuard&) = delete;
    ExitGuard& operator=(const ExitGuard&) = delete;
};

}  // namespace roof
