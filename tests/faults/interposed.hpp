// For shared objects of LD_PRELOAD that put functions of their own before those of the C library.
#pragma once

#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/types.h>

/// The function that the C library has.
template <class Function>
Function real(const char* name)
{
    return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

/// Calls the C library's open(). `rest`: the arguments behind the flags.
inline int real_open(const char* path, int flags, va_list rest)
{
    static const auto next = real<int (*)(const char*, int, mode_t)>("open");
    return next(path, flags, (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0);
}
