// A shared object for LD_PRELOAD that takes something from a process. ROOF_LACKS is one of
//   clock N     the monotonic clock stands still after N readings
//   threads N   no thread can be started after N
//   proc        files below /proc are not there
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <time.h>

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
    long after = 0;

    Lack()
    {
        const char* const text = std::getenv("ROOF_LACKS");
        if (text == nullptr) return;
        clock = std::strncmp(text, "clock ", 6) == 0;
        threads = std::strncmp(text, "threads ", 8) == 0;
        proc = std::strcmp(text, "proc") == 0;
        if (const char* const blank = std::strchr(text, ' ')) after = std::atol(blank);
    }
};

const Lack& lack()
{
    static const Lack one;
    return one;
}

template <class Function>
Function real(const char* name)
{
    return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

bool is_away(const char* path)
{
    if (!lack().proc || std::strncmp(path, "/proc", 5) != 0) return false;
    errno = ENOENT;
    return true;
}

std::atomic<long> readings = 0;
std::atomic<long> threads = 0;

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* time) noexcept
{
    static const auto next = real<int (*)(clockid_t, timespec*)>("clock_gettime");
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
    if (lack().threads && threads++ >= lack().after) return EAGAIN;
    return next(thread, attributes, work, argument);
}

int open(const char* path, int flags, ...)
{
    static const auto next = real<int (*)(const char*, int, mode_t)>("open");
    va_list rest;
    va_start(rest, flags);
    const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return is_away(path) ? -1 : next(path, flags, mode);
}

FILE* fopen(const char* path, const char* mode)
{
    static const auto next = real<FILE* (*)(const char*, const char*)>("fopen");
    return is_away(path) ? nullptr : next(path, mode);
}

FILE* fopen64(const char* path, const char* mode)
{
    static const auto next = real<FILE* (*)(const char*, const char*)>("fopen64");
    return is_away(path) ? nullptr : next(path, mode);
}

DIR* opendir(const char* path)
{
    static const auto next = real<DIR* (*)(const char*)>("opendir");
    return is_away(path) ? nullptr : next(path);
}

int stat(const char* path, struct stat* status) noexcept
{
    static const auto next = real<int (*)(const char*, struct stat*)>("stat");
    return is_away(path) ? -1 : next(path, status);
}

}  // extern "C"
