// A shared object for LD_PRELOAD: at the n-th system call that changes files it kills the process or lets the call
// fail.
//   ROOF_FAULT="N kill-before | kill-half | kill-after | ERRNO"
// Without the variable it prints the number of such calls to standard error when the process ends.
#include "tests/faults/interposed.hpp"

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

struct Fault {
    long at = -1;
    const char* action = "";

    Fault()
    {
        if (const char* const text = std::getenv("ROOF_FAULT")) {
            char* rest = nullptr;
            at = std::strtol(text, &rest, 10);
            action = rest + 1;
        }
    }
    ~Fault()
    {
        if (at < 0) std::fprintf(stderr, "calls: %ld\n", calls);
    }
    long calls = 0;
};

Fault& fault()
{
    static Fault one;
    return one;
}

/// Runs `call`, or what the fault asks for. `half` does half of the call.
template <class Call, class Half>
auto guarded(const Call& call, const Half& half) -> decltype(call())
{
    Fault& f = fault();
    if (f.calls++ != f.at) return call();
    if (std::strcmp(f.action, "kill-before") == 0) kill(getpid(), SIGKILL);
    if (std::strcmp(f.action, "kill-half") == 0) {
        half();
        kill(getpid(), SIGKILL);
    }
    if (std::strcmp(f.action, "kill-after") == 0) {
        call();
        kill(getpid(), SIGKILL);
    }
    errno = std::atoi(f.action);
    return -1;
}

constexpr auto nothing = [] {};

}  // namespace

extern "C" {

int open(const char* path, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    const auto next = [&] { return real_open(path, flags, rest); };
    const int descriptor = (flags & O_ACCMODE) == O_RDONLY ? next() : guarded(next, nothing);
    va_end(rest);
    return descriptor;
}

ssize_t write(int descriptor, const void* bytes, size_t size)
{
    static const auto next = real<ssize_t (*)(int, const void*, size_t)>("write");
    if (descriptor <= STDERR_FILENO) return next(descriptor, bytes, size);
    return guarded([&] { return next(descriptor, bytes, size); }, [&] { next(descriptor, bytes, size / 2); });
}

int fdatasync(int descriptor)
{
    static const auto next = real<int (*)(int)>("fdatasync");
    return guarded([&] { return next(descriptor); }, nothing);
}

int fsync(int descriptor)
{
    static const auto next = real<int (*)(int)>("fsync");
    return guarded([&] { return next(descriptor); }, nothing);
}

int ftruncate(int descriptor, off_t length) noexcept
{
    static const auto next = real<int (*)(int, off_t)>("ftruncate");
    return guarded([&] { return next(descriptor, length); }, nothing);
}

int rename(const char* from, const char* to) noexcept
{
    static const auto next = real<int (*)(const char*, const char*)>("rename");
    return guarded([&] { return next(from, to); }, nothing);
}

int unlink(const char* path) noexcept
{
    static const auto next = real<int (*)(const char*)>("unlink");
    return guarded([&] { return next(path); }, nothing);
}

}  // extern "C"
