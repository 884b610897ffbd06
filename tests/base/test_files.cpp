#include "ert/base/compressed.hpp"
#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "ert/base/process.hpp"
#include "tests/fakes/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <iterator>
#include <vector>

using namespace roof;
using Catch::Contains;

namespace fs = std::filesystem;

TEST_CASE("only regular files are read, and a link to one is followed")
{
    const fakes::TemporaryFolder folder;
    write_file(folder / "file", "text");
    fs::create_symlink("file", folder / "link");
    CHECK(read_file(folder / "link") == "text");
    CHECK_THROWS_WITH(read_file(folder / "none"), Contains("No such file"));
    CHECK_THROWS_WITH(read_file(folder.path()), Contains("it is a folder"));
    REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
    CHECK_THROWS_WITH(read_file(folder / "pipe"), Contains("it is a pipe"));
    fs::create_symlink("/dev/zero", folder / "zeros");
    CHECK_THROWS_WITH(read_file(folder / "zeros"), Contains("it is a device"));
    CHECK_FALSE(open_if_there(folder / "pipe"));
    CHECK_FALSE(open_if_there(folder / "none"));
}

TEST_CASE("a file above the limit is refused")
{
    const fakes::TemporaryFolder folder;
    write_file(folder / "file", std::string(1000, 'x'));
    CHECK(read_file(folder / "file", 1000).size() == 1000);
    CHECK_THROWS_WITH(read_file(folder / "file", 999), Contains("larger than"));
}

TEST_CASE("writing replaces a link, and keeps the permissions of a file")
{
    const fakes::TemporaryFolder folder;
    write_file(folder / "file", "old");
    ::chmod((folder / "file").c_str(), 0600);
    fs::create_symlink("file", folder / "link");
    fs::create_symlink("later", folder / "dangling");
    fs::create_symlink("round", folder / "round");
    for (const char* name : {"link", "dangling", "round"}) {
        write_file(folder / name, "new");
        CHECK(fs::symlink_status(folder / name).type() == fs::file_type::regular);
        CHECK(read_file(folder / name) == "new");
    }
    CHECK(read_file(folder / "file") == "old");
    CHECK_FALSE(fs::exists(folder / "later"));
    write_file(folder / "file", "newer");
    CHECK(fs::status(folder / "file").permissions() == fs::perms(0600));
    ::mkfifo((folder / "pipe").c_str(), 0600);
    CHECK_THROWS_WITH(write_file(folder / "pipe", "x"), Contains("it is a pipe"));
}

TEST_CASE("rows are not appended through a link")
{
    const fakes::TemporaryFolder folder;
    write_file(folder / "victim", "old");
    fs::create_symlink("victim", folder / "measurements.csv");
    CHECK_THROWS_WITH(append_file(folder / "measurements.csv", "row"), Contains("it is a link"));
    CHECK(read_file(folder / "victim") == "old");
}

TEST_CASE("writing a file that the user named follows a link, keeps it, and keeps the permissions of the file")
{
    const fakes::TemporaryFolder folder;
    write_file(folder / "file", "old");
    ::chmod((folder / "file").c_str(), 0600);
    fs::create_symlink("file", folder / "link");
    write_chosen_file(folder / "link", "new");
    CHECK(fs::is_symlink(folder / "link"));
    CHECK(read_file(folder / "file") == "new");
    CHECK(fs::status(folder / "file").permissions() == fs::perms(0600));
    fs::create_symlink("later", folder / "dangling");
    write_chosen_file(folder / "dangling", "made");
    CHECK(read_file(folder / "later") == "made");
    fs::create_symlink("round", folder / "round");
    CHECK_THROWS_AS(write_chosen_file(folder / "round", "x"), InputError);
}

TEST_CASE("a device that the user named stays a device, and its errors are told")
{
    const fakes::TemporaryFolder folder;
    fs::create_symlink("/dev/null", folder / "null");
    write_chosen_file(folder / "null", "x");
    CHECK(fs::is_character_file("/dev/null"));
    CHECK(fs::is_symlink(folder / "null"));
    if (fs::exists("/dev/full")) CHECK_THROWS_WITH(write_chosen_file("/dev/full", "x"), Contains("No space left"));
    CHECK_THROWS_AS(write_chosen_file(folder.path(), "x"), InputError);
    CHECK_THROWS_WITH(write_file("/dev/null", "x"), Contains("it is a device"));
    CHECK_THROWS_WITH(append_file("/dev/null", "x"), Contains("it is a device"));
}

TEST_CASE("standard output is the program's own under each of its names, and not what libraries print to")
{
    const fakes::TemporaryFolder folder;
    const pid_t child = ::fork();
    if (child == 0) {
        const int out = ::open((folder / "out").c_str(), O_WRONLY | O_CREAT, 0600);
        const int err = ::open((folder / "err").c_str(), O_WRONLY | O_CREAT, 0600);
        ::dup2(out, STDOUT_FILENO);
        ::dup2(err, STDERR_FILENO);
        keep_own_output();
        for (const char* const name : {"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}) write_chosen_file(name, "a");
        write_chosen_file(folder / "out", "b");
        ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    CHECK(status == 0);
    CHECK(read_file(folder / "out") == "aaab");
    CHECK(read_file(folder / "err").empty());
}

TEST_CASE("an append that does not fit leaves the file as it was")
{
    const fakes::TemporaryFolder folder;
    append_file(folder / "file", "kept");
    const pid_t child = ::fork();
    if (child == 0) {
        ::signal(SIGXFSZ, SIG_IGN);
        const rlimit limit{10, 10};
        ::setrlimit(RLIMIT_FSIZE, &limit);
        try {
            append_file(folder / "file", "much too long");
        } catch (const InputError& error) {
            ::_exit(std::string(error.what()).find("File too large") != std::string::npos ? 0 : 1);
        }
        ::_exit(2);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    CHECK(status == 0);
    CHECK(read_file(folder / "file") == "kept");
}

TEST_CASE("a file that cannot be written is named, and not the one that would have replaced it")
{
    const fakes::TemporaryFolder folder;
    const std::string file = folder / "lacking" / "page.html";
    CHECK_THROWS_WITH(write_file(file, "text"), "cannot write " + file + ": No such file or directory");
}

TEST_CASE("writers of one file at once each succeed, and a whole content stays")
{
    const fakes::TemporaryFolder folder;
    const fs::path file = folder / "page.html";
    write_file(folder / "page.html.part", "somebody's own");
    std::vector<pid_t> children;
    for (int i = 0; i < 8; ++i) {
        const pid_t child = ::fork();
        if (child == 0) {
            int failures = 0;
            for (int k = 0; k < 50; ++k) {
                try {
                    write_file(file, std::string(20'000, static_cast<char>('a' + i)));
                } catch (const InputError&) {
                    ++failures;
                }
            }
            ::_exit(failures);
        }
        children.push_back(child);
    }
    for (const pid_t child : children) {
        int status = 0;
        ::waitpid(child, &status, 0);
        CHECK(status == 0);
    }
    CHECK(read_file(file) == std::string(20'000, read_file(file).at(0)));
    CHECK(read_file(folder / "page.html.part") == "somebody's own");
    CHECK(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()) == 2);
}

TEST_CASE("a lock whose file was removed or replaced is no lock any more")
{
    const fakes::TemporaryFolder folder;
    const FolderLock lock(folder.path());
    CHECK_NOTHROW(lock.check());
    fs::remove(folder / ".lock");
    CHECK_THROWS_WITH(lock.check(), Contains("was removed or replaced"));
    const FolderLock second(folder.path());
    CHECK_THROWS_WITH(lock.check(), Contains("was removed or replaced"));
    CHECK_NOTHROW(second.check());
}

TEST_CASE("a compressed file that is damaged, cut off or too long is refused")
{
    const std::string text(5000, 'x'), bytes = compressed(text);
    for (const std::size_t length : {std::size_t{3}, std::size_t{12}, bytes.size() / 2, bytes.size() - 1})
        CHECK_THROWS_WITH(decompressed(bytes.substr(0, length), "x", largest_text), Contains("damaged or cut off"));
    std::string wrong = bytes;
    wrong[wrong.size() - 6] ^= 1;  // in the checksum
    CHECK_THROWS_WITH(decompressed(wrong, "x", largest_text), Contains("damaged or cut off"));
    CHECK_THROWS_WITH(decompressed(bytes, "x", text.size() - 1), Contains("holds more than"));
    CHECK(decompressed(bytes, "x", text.size()) == text);
    CHECK(decompressed(bytes + bytes, "x", largest_text) == text + text);
}
