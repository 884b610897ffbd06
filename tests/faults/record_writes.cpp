// A shared object for LD_PRELOAD that writes each change of a file, each flush, and what the process says on standard
// error into the file ROOF_WRITES, in order. test_power_cuts.py makes of it what a disk can hold after a cut at any
// moment. ROOF_UNFLUSHED=files or folders leaves out the flushes of these, as if the process made none.
//   A record is a line "KIND INODE NUMBER BYTES PATH" and then BYTES bytes:
//   open (NUMBER 1: the file is new)  write (NUMBER: the place)  cut (NUMBER: the length)  flush  flush-folder  rename
//   (the bytes: the new path) unlink  mkdir  say
#include "tests/faults/interposed.hpp"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

void record(const char* kind, unsigned long inode, long number, const std::string& path, const std::string& bytes = {})
{
    static const char* const file = std::getenv("ROOF_WRITES");
    if (file == nullptr) return;
    static const int log =
        static_cast<int>(syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
    const std::string text = std::string(kind) + " " + std::to_string(inode) + " " + std::to_string(number) + " " +
                             std::to_string(bytes.size()) + " " + path + "\n" + bytes;
    if (syscall(SYS_write, log, text.data(), text.size()) != static_cast<long>(text.size())) std::abort();
}

struct stat status_of(int descriptor)
{
    struct stat status {};
    fstat(descriptor, &status);
    return status;
}

/// The path of an open file.
std::string path_of(int descriptor)
{
    char path[4096] = {};
    const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
    return readlink(link.c_str(), path, sizeof path - 1) < 0 ? "" : path;
}

std::string absolute(const char* path)
{
    char folder[4096] = {};
    if (path[0] == '/' || getcwd(folder, sizeof folder) == nullptr) return path;
    return std::string(folder) + "/" + path;
}

bool leaves_out(const char* what)
{
    const char* const unflushed = std::getenv("ROOF_UNFLUSHED");
    return unflushed != nullptr && std::strcmp(unflushed, what) == 0;
}

void record_flush(int descriptor)
{
    const struct stat status = status_of(descriptor);
    const bool is_folder = S_ISDIR(status.st_mode);
    if (leaves_out(is_folder ? "folders" : "files")) return;
    record(is_folder ? "flush-folder" : "flush", status.st_ino, 0, path_of(descriptor));
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...)
{
    struct stat before {};
    const bool is_there = stat(path, &before) == 0;
    va_list rest;
    va_start(rest, flags);
    const int descriptor = real_open(path, flags, rest);
    va_end(rest);
    if (descriptor >= 0 && (flags & O_ACCMODE) != O_RDONLY)
        record("open", status_of(descriptor).st_ino, is_there ? 0 : 1, path_of(descriptor));
    return descriptor;
}

ssize_t write(int descriptor, const void* bytes, size_t size)
{
    static const auto next = real<ssize_t (*)(int, const void*, size_t)>("write");
    const struct stat before = status_of(descriptor);
    const ssize_t written = next(descriptor, bytes, size);
    if (written <= 0) return written;
    const std::string text(static_cast<const char*>(bytes), static_cast<size_t>(written));
    if (descriptor == STDERR_FILENO)
        record("say", 0, 0, "", text);
    else if (S_ISREG(before.st_mode))
        record("write", before.st_ino, lseek(descriptor, 0, SEEK_CUR) - written, path_of(descriptor), text);
    return written;
}

int fdatasync(int descriptor)
{
    static const auto next = real<int (*)(int)>("fdatasync");
    const int status = next(descriptor);
    if (status == 0) record_flush(descriptor);
    return status;
}

int fsync(int descriptor)
{
    static const auto next = real<int (*)(int)>("fsync");
    const int status = next(descriptor);
    if (status == 0) record_flush(descriptor);
    return status;
}

int ftruncate(int descriptor, off_t length) noexcept
{
    static const auto next = real<int (*)(int, off_t)>("ftruncate");
    const int status = next(descriptor, length);
    if (status == 0) record("cut", status_of(descriptor).st_ino, length, path_of(descriptor));
    return status;
}

int rename(const char* from, const char* to) noexcept
{
    static const auto next = real<int (*)(const char*, const char*)>("rename");
    const int status = next(from, to);
    if (status == 0) record("rename", 0, 0, absolute(from), absolute(to));
    return status;
}

int unlink(const char* path) noexcept
{
    static const auto next = real<int (*)(const char*)>("unlink");
    const int status = next(path);
    if (status == 0) record("unlink", 0, 0, absolute(path));
    return status;
}

int mkdir(const char* path, mode_t mode) noexcept
{
    static const auto next = real<int (*)(const char*, mode_t)>("mkdir");
    const int status = next(path, mode);
    if (status == 0) record("mkdir", 0, 0, absolute(path));
    return status;
}

}  // extern "C"
