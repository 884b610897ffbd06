// A shared object for LD_PRELOAD that takes something from a process. ROOF_LACKS is one of
//   clock N     the monotonic clock stands still after N readings
//   threads N   no thread can be started after N
//   proc        files below /proc are not there
//   locks E     flock() fails with errno E
//   flush E     fsync() and fdatasync() fail with errno E
//   masks B     the kernel's sets of processors have B bytes: smaller ones are refused with EINVAL
//   life N      a process that was started as `roof rank` is killed at its N-th call of the functions below; if it ends
//   before, it prints the
//               number of its calls to standard error
#include "tests/faults/interposed.hpp"

#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

struct Lack {
    bool clock = false;
    bool threads = false;
    bool proc = false;
    bool life = false;
    bool locks = false;
    bool flush = false;
    bool masks = false;
    long after = 0;
    std::atomic<long> calls = 0;

    Lack()
    {
        const char* const text = std::getenv("ROOF_LACKS");
        if (text == nullptr) return;
        clock = std::strncmp(text, "clock ", 6) == 0;
        threads = std::strncmp(text, "threads ", 8) == 0;
        proc = std::strcmp(text, "proc") == 0;
        life = std::strncmp(text, "life ", 5) == 0 && is_rank();
        locks = std::strncmp(text, "locks ", 6) == 0;
        flush = std::strncmp(text, "flush ", 6) == 0;
        masks = std::strncmp(text, "masks ", 6) == 0;
        if (const char* const blank = std::strchr(text, ' ')) after = std::atol(blank);
    }
    ~Lack()
    {
        if (life) std::fprintf(stderr, "calls: %ld\n", calls.load());
    }

    /// By system calls, because the functions below ask for this.
    static bool is_rank()
    {
        char words[4096] = {};
        const auto file = static_cast<int>(syscall(SYS_openat, AT_FDCWD, "/proc/self/cmdline", O_RDONLY));
        if (file < 0 || syscall(SYS_read, file, words, sizeof words - 2) < 0) return false;
        syscall(SYS_close, file);
        return std::strcmp(words + std::strlen(words) + 1, "rank") == 0;
    }
};

Lack& lack()
{
    static Lack one;
    return one;
}

/// Called at the beginning of each function.
void live()
{
    if (lack().life && lack().calls++ == lack().after) kill(getpid(), SIGKILL);
}

bool is_away(const char* path)
{
    if (!lack().proc || std::strncmp(path, "/proc", 5) != 0) return false;
    errno = ENOENT;
    return true;
}

/// -1 with errno, if the process lacks what the call needs.
bool fails(bool lacks)
{
    if (lacks) errno = static_cast<int>(lack().after);
    return lacks;
}

std::atomic<long> readings = 0;
std::atomic<long> threads = 0;

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* time) noexcept
{
    static const auto next = real<int (*)(clockid_t, timespec*)>("clock_gettime");
    live();
    static timespec last{1000, 0};
    if (!lack().clock || clock != CLOCK_MONOTONIC) return next(clock, time);
    const int status = readings++ < lack().after ? next(clock, &last) : 0;
    *time = last;
    return status;
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*work)(void*), void* argument) noexcept
{
    static const auto next =
        real<int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)>("pthread_create");
    live();
    if (lack().threads && threads++ >= lack().after) return EAGAIN;
    return next(thread, attributes, work, argument);
}

int open(const char* path, int flags, ...)
{
    live();
    va_list rest;
    va_start(rest, flags);
    const int descriptor = is_away(path) ? -1 : real_open(path, flags, rest);
    va_end(rest);
    return descriptor;
}

FILE* fopen(const char* path, const char* mode)
{
    static const auto next = real<FILE* (*)(const char*, const char*)>("fopen");
    live();
    return is_away(path) ? nullptr : next(path, mode);
}

FILE* fopen64(const char* path, const char* mode)
{
    static const auto next = real<FILE* (*)(const char*, const char*)>("fopen64");
    live();
    return is_away(path) ? nullptr : next(path, mode);
}

DIR* opendir(const char* path)
{
    static const auto next = real<DIR* (*)(const char*)>("opendir");
    live();
    return is_away(path) ? nullptr : next(path);
}

void* mmap(void* where, size_t size, int protection, int flags, int file, off_t offset) noexcept
{
    static const auto next = real<void* (*)(void*, size_t, int, int, int, off_t)>("mmap");
    live();
    return next(where, size, protection, flags, file, offset);
}

int munmap(void* where, size_t size) noexcept
{
    static const auto next = real<int (*)(void*, size_t)>("munmap");
    live();
    return next(where, size);
}

int nanosleep(const timespec* time, timespec* rest)
{
    static const auto next = real<int (*)(const timespec*, timespec*)>("nanosleep");
    live();
    return next(time, rest);
}

int clock_nanosleep(clockid_t clock, int flags, const timespec* time, timespec* rest)
{
    static const auto next = real<int (*)(clockid_t, int, const timespec*, timespec*)>("clock_nanosleep");
    live();
    return next(clock, flags, time, rest);
}

int stat(const char* path, struct stat* status) noexcept
{
    static const auto next = real<int (*)(const char*, struct stat*)>("stat");
    live();
    return is_away(path) ? -1 : next(path, status);
}

ssize_t readlink(const char* path, char* to, size_t size) noexcept
{
    static const auto next = real<ssize_t (*)(const char*, char*, size_t)>("readlink");
    live();
    return is_away(path) ? -1 : next(path, to, size);
}

int flock(int file, int operation) noexcept
{
    static const auto next = real<int (*)(int, int)>("flock");
    return fails(lack().locks) ? -1 : next(file, operation);
}

int fsync(int file)
{
    static const auto next = real<int (*)(int)>("fsync");
    return fails(lack().flush) ? -1 : next(file);
}

int fdatasync(int file)
{
    static const auto next = real<int (*)(int)>("fdatasync");
    return fails(lack().flush) ? -1 : next(file);
}

int sched_getaffinity(pid_t process, size_t bytes, cpu_set_t* set) noexcept
{
    static const auto next = real<int (*)(pid_t, size_t, cpu_set_t*)>("sched_getaffinity");
    if (lack().masks && bytes < static_cast<size_t>(lack().after)) {
        errno = EINVAL;
        return -1;
    }
    return next(process, bytes, set);
}

}  // extern "C"
