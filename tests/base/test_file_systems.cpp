// What is flushed, and file systems and processes that lack something.
#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "ert/base/process.hpp"
#include "tests/base/child.hpp"
#include "tests/fakes/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include <array>
#include <cstring>
#include <iterator>
#include <vector>

using namespace roof;
using tests::is_true_in_child;

namespace fs = std::filesystem;

namespace {

/// The errno that a call fails with, 0 for none, and how often it was made.
struct Call {
    int error = 0;
    int count = 0;

    int operator()(long number, int file, int operation = 0)
    {
        ++count;
        if (error == 0) return static_cast<int>(::syscall(number, file, operation));
        errno = error;
        return -1;
    }
} of_file, of_folder, of_lock;

/// What `call` throws; empty for nothing.
template <class Make>
std::string error_of(const Make& call)
{
    try {
        call();
        return {};
    } catch (const Error& error) {
        return error.what();
    }
}

int open_files()
{
    return static_cast<int>(std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator()));
}

}  // namespace

// In place of those of the system's library.
extern "C" int fdatasync(int file)
{
    return of_file(SYS_fdatasync, file);
}
extern "C" int fsync(int file)
{
    return of_folder(SYS_fsync, file);
}
extern "C" int flock(int file, int operation) noexcept
{
    return of_lock(SYS_flock, file, operation);
}

TEST_CASE("files are flushed, and folders in which a name is new")
{
    const fakes::TemporaryFolder folder;
    const auto flushed = [](const auto& call) {
        of_file.count = of_folder.count = 0;
        call();
        return std::pair(of_file.count, of_folder.count);
    };
    CHECK(flushed([&] { write_file(folder / "file", "text"); }) == std::pair(1, 1));
    CHECK(flushed([&] { write_chosen_file(folder / "file", "text"); }) == std::pair(1, 1));
    CHECK(flushed([&] { append_file(folder / "rows", "row"); }) == std::pair(1, 1));
    CHECK(flushed([&] { append_file(folder / "rows", "row"); }) == std::pair(1, 0));
    CHECK(flushed([&] { cut_file(folder / "rows", 5); }) == std::pair(1, 0));
    CHECK(read_file(folder / "rows") == "rowro");
    CHECK(flushed([&] { make_folder(folder / "a/b/c"); }) == std::pair(0, 3));
    CHECK(flushed([&] { make_folder(folder / "a/b/c"); }) == std::pair(0, 0));
    CHECK(flushed([&] { CHECK(make_new_folder(folder / "new/one")); }) == std::pair(0, 2));
    CHECK(flushed([&] { CHECK_FALSE(make_new_folder(folder / "new/one")); }) == std::pair(0, 0));
}

TEST_CASE("a file system that cannot flush or lock is used, and a flush or lock that fails is told")
{
    using Sentences = std::vector<std::string>;
    const fakes::TemporaryFolder folder;
    const std::string place = folder.path(), file = folder / "file", rows = folder / "rows", made = folder / "made";
    const auto errors = [&](int error, int error_of_folder) {
        of_file.error = of_lock.error = error;
        of_folder.error = error_of_folder;
        Sentences told{error_of([&] { write_file(file, "new"); }), error_of([&] { append_file(rows, "new"); }),
                       error_of([&] { cut_file(rows, 1); }),       error_of([&] { make_new_folder(made); }),
                       error_of([&] { FolderLock{place}; }),       lacks_of_file_system(place)};
        of_file.error = of_lock.error = of_folder.error = 0;
        fs::remove(made);
        return told;
    };
    CHECK(errors(0, 0) == Sentences(6));
    CHECK(errors(0, EROFS) == Sentences(6));
    for (const int error : {EINVAL, ENOSYS, ENOTSUP, ENOLCK}) {
        Sentences expected(5);
        expected.push_back(
            fmt::format("{} has no locks ({}): see to it that no other run writes there; it cannot flush "
                        "({}): a power cut may lose rows",
                        place, std::strerror(error), std::strerror(error)));
        CHECK(errors(error, error) == expected);
    }
    write_file(file, "old");
    const std::string why = ": Input/output error";
    CHECK(errors(EIO, EIO) == Sentences{"cannot write " + file + why, "cannot write " + rows + why,
                                        "cannot cut " + rows + why, "cannot flush " + place + why,
                                        "cannot lock " + place + why, ""});
    CHECK(read_file(file) == "old");
    CHECK(read_file(rows) == "n");
    of_lock.error = EINVAL;
    CHECK(lacks_of_file_system(place) ==
          place + " has no locks (Invalid argument): see to it that no other run writes there");
    of_lock.error = 0;
    CHECK(errors(0, EIO).front() == "cannot flush " + place + why);
}

TEST_CASE("no file stays open, and a limit on open files is told")
{
    const fakes::TemporaryFolder folder;
    const fs::path held = folder / "held", free = folder / "free", rows = folder / "rows";
    const int before = open_files();
    make_folder(held);
    make_folder(free);
    {
        const FolderLock lock(held);
        FolderLock{free};
        CHECK(error_of([&] { FolderLock{held}; }) ==
              "another run is writing to " + held.string() + "; wait for it, or give --out another folder");
        CHECK((FolderLock::is_held(held) && !FolderLock::is_held(free) && !FolderLock::is_held(folder / "none")));
        CHECK((lacks_of_file_system(held).empty() && lacks_of_file_system(folder / "none").empty()));
    }
    append_file(rows, "row");
    CHECK(open_files() == before);
    CHECK(error_of([&] { FolderLock{rows}; }) == "cannot write into " + rows.string() + ": Not a directory");
    CHECK(is_true_in_child([&] {
        rlimit limit{};
        ::getrlimit(RLIMIT_NOFILE, &limit);
        limit.rlim_cur = static_cast<rlim_t>(::dup(STDIN_FILENO)) + 1;
        ::close(static_cast<int>(limit.rlim_cur) - 1);
        ::setrlimit(RLIMIT_NOFILE, &limit);
        const std::string why = ": Too many open files";
        if (!error_of([&] { append_file(rows, "row"); }).empty() ||
            error_of([&] { append_file(folder / "new", "row"); }) != "cannot flush " + folder.path().string() + why)
            return false;
        --limit.rlim_cur;
        ::setrlimit(RLIMIT_NOFILE, &limit);
        return error_of([&] { read_file(rows); }) == "cannot read " + rows.string() + why &&
               error_of([&] { append_file(rows, "row"); }) == "cannot open " + rows.string() + why;
    }));
    // A closed stream is opened, so that no file takes its place.
    CHECK(is_true_in_child([&] {
        ::close(STDIN_FILENO);
        const int open = open_files();
        keep_own_output();
        return ::fcntl(STDIN_FILENO, F_GETFD) != -1 && open_files() == open + 2;
    }));
}

TEST_CASE("a folder that may not be read is written to, and what may not be read is told")
{
    const fakes::TemporaryFolder folder;
    const fs::path closed = folder / "closed", file = closed / "file";
    make_folder(closed);
    ::chmod(folder.path().c_str(), 0755);
    ::chmod(closed.c_str(), 0333);
    CHECK(is_true_in_child([&] {
        if (::geteuid() == 0 && ::setuid(65534) != 0) return true;
        write_file(file, "x");
        FolderLock{closed};
        ::chmod(file.c_str(), 0);
        const std::string why = "cannot read " + closed.string() + ": Permission denied";
        const std::string of_file = "cannot read " + file.string() + ": Permission denied";
        return lacks_of_file_system(closed) ==
                   closed.string() + " may not be listed: a power cut may lose its new files" &&
               why_not_read(closed) == why && why_not_read(file) == of_file &&
               error_of([&] { read_file(file); }) == of_file && !open_if_there(file);
    }));
    ::chmod(closed.c_str(), 0700);
}

namespace {

int full_pipe = -1;

void empty_pipe(int)
{
    std::array<char, 4096> text;
    static_cast<void>(::read(full_pipe, text.data(), text.size()));
}

}  // namespace

TEST_CASE("a pipe that the user named is waited for, also after a signal")
{
    const fakes::TemporaryFolder folder;
    const fs::path pipe = folder / "pipe";
    ::mkfifo(pipe.c_str(), 0600);
    full_pipe = ::open(pipe.c_str(), O_RDWR);
    REQUIRE(::fcntl(full_pipe, F_SETPIPE_SZ, 4096) == 4096);
    REQUIRE(::write(full_pipe, std::string(4096, 'x').c_str(), 4096) == 4096);
    struct sigaction once {
    }, usual{};
    once.sa_handler = empty_pipe;
    ::sigaction(SIGALRM, &once, &usual);
    const itimerval soon{{}, {0, 20'000}};
    ::setitimer(ITIMER_REAL, &soon, nullptr);
    write_chosen_file(pipe, "last");
    ::sigaction(SIGALRM, &usual, nullptr);
    std::array<char, 5> rest{};
    CHECK(::read(full_pipe, rest.data(), 4) == 4);
    CHECK(std::string(rest.data()) == "last");
    ::close(full_pipe);
}
