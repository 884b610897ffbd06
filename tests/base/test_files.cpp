#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "ert/base/process.hpp"
#include "tests/base/child.hpp"
#include "tests/fakes/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <iterator>
#include <utility>
#include <vector>

using namespace roof;
using Catch::Contains;
using tests::is_true_in_child;

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
    CHECK_THROWS_WITH(read_file("/proc/self/mem"), "cannot read /proc/self/mem: Input/output error");
    fs::create_symlink("round", folder / "round");
    for (const char* sound : {"none", "file", "link", "file/below", "."}) CHECK(why_not_read(folder / sound).empty());
    for (const auto& [name, why] : {std::pair{"pipe", "it is a pipe, not a regular file"},
                                    {"zeros", "it is a device, not a regular file"},
                                    {"round", "Too many levels of symbolic links"}})
        CHECK(why_not_read(folder / name) == "cannot read " + (folder / name).string() + ": " + why);
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
    const mode_t mask = ::umask(0);
    write_file(folder / "file of all", "x");
    write_chosen_file(folder / "chosen of all", "x");
    ::umask(mask);
    for (const char* name : {"file of all", "chosen of all"})
        CHECK(fs::status(folder / name).permissions() == fs::perms(0666));
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
    CHECK(fs::is_symlink(folder / "round"));
}

TEST_CASE("a device that the user named stays a device, and its errors are told")
{
    const fakes::TemporaryFolder folder;
    fs::create_symlink("/dev/null", folder / "null");
    write_chosen_file(folder / "null", "x");
    CHECK(fs::is_character_file("/dev/null"));
    CHECK(fs::is_symlink(folder / "null"));
    if (fs::exists("/dev/full")) CHECK_THROWS_WITH(write_chosen_file("/dev/full", "x"), Contains("No space left"));
    CHECK_THROWS_WITH(write_chosen_file(folder.path(), "x"),
                      "cannot write " + folder.path().string() + ": Is a directory");
    CHECK_THROWS_WITH(write_file("/dev/null", "x"), Contains("it is a device"));
    CHECK_THROWS_WITH(append_file("/dev/null", "x"), Contains("it is a device"));
}

TEST_CASE("standard output is the program's own under each of its names, and not what libraries print to")
{
    const fakes::TemporaryFolder folder;
    CHECK(is_true_in_child([&] {
        const int out = ::open((folder / "out").c_str(), O_WRONLY | O_CREAT, 0600);
        const int err = ::open((folder / "err").c_str(), O_WRONLY | O_CREAT, 0600);
        ::dup2(out, STDOUT_FILENO);
        ::dup2(err, STDERR_FILENO);
        keep_own_output();
        for (const char* const name : {"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}) write_chosen_file(name, "a");
        write_chosen_file(folder / "out", "b");
        return ::write(STDOUT_FILENO, "library", 7) == 7;
    }));
    CHECK(read_file(folder / "out") == "aaab");
    CHECK(read_file(folder / "err") == "library");
}

TEST_CASE("what does not fit leaves the file as it was")
{
    const fakes::TemporaryFolder folder;
    const fs::path file = folder / "file";
    append_file(file, "kept");
    CHECK(is_true_in_child([&] {
        ::signal(SIGXFSZ, SIG_IGN);
        const rlimit limit{10, 10};
        ::setrlimit(RLIMIT_FSIZE, &limit);
        int told = 0;
        for (const auto write : {append_file, write_file}) try {
                write(file, "much too long");
            } catch (const InputError& error) {
                told += error.what() == "cannot write " + file.string() + ": File too large" ? 1 : 0;
            }
        return told == 2;
    }));
    CHECK(read_file(file) == "kept");
    CHECK(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()) == 1);
}

TEST_CASE("what cannot be made is told")
{
    const fakes::TemporaryFolder folder;
    write_file(folder / "file", "x");
    const std::string file = folder / "file", longest = folder / std::string(300, 'x');
    CHECK_THROWS_WITH(make_folder(file), "cannot create the folder " + file + ": Not a directory");
    CHECK_THROWS_WITH(make_new_folder(longest), "cannot create the folder " + longest + ": File name too long");
    CHECK_THROWS_WITH(write_chosen_file(longest, "x"), "cannot open " + longest + ": File name too long");
    CHECK_THROWS_WITH(cut_file("/dev/null", 1), "cannot cut /dev/null: Invalid argument");
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
    CHECK(decompressed(bytes + bytes, "x", 2 * text.size()) == text + text);
    CHECK_THROWS_WITH(decompressed(bytes + bytes, "x", 2 * text.size() - 1), "x: it holds more than 0 MiB of text");
    const std::string longer(std::size_t{3} << 20, 'y');
    CHECK(decompressed(compressed(longer) + bytes + compressed(""), "x", longer.size() + text.size()) == longer + text);
    CHECK_THROWS_WITH(decompressed(compressed(longer), "x", std::size_t{2} << 20),
                      "x: it holds more than 2 MiB of text");
}
