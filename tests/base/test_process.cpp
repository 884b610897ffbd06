#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "ert/base/process.hpp"
#include "ert/base/processors.hpp"
#include "ert/base/text.hpp"
#include "tests/fakes/temporary_folder.hpp"

#include <sys/wait.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include <fcntl.h>
#include <unistd.h>

using namespace roof;

namespace {

/// The exit status of a program that was started.
int status_of(const std::vector<std::string>& words, const std::map<std::string, std::string>& variables)
{
    pid_t id = 0;
    REQUIRE(start_process(id, words, variables, nullptr, nullptr) == 0);
    int status = 0;
    REQUIRE(waitpid(id, &status, 0) == id);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("a program is started with its words, and with variables in place of those of the environment or beside them")
{
    setenv("ROOF_TEST_KEPT", "kept", 1);
    setenv("ROOF_TEST_REPLACED", "before", 1);
    const std::string shown =
        "test \"$ROOF_TEST_KEPT $ROOF_TEST_REPLACED $ROOF_TEST_ADDED $1\" = 'kept after added word' && "
        "test $(env | grep -c ROOF_TEST_REPLACED=) = 1 && exit 7";
    CHECK(status_of({"sh", "-c", shown, "sh", "word"},
                    {{"ROOF_TEST_REPLACED", "after"}, {"ROOF_TEST_ADDED", "added"}}) == 7);
    unsetenv("ROOF_TEST_KEPT");
    unsetenv("ROOF_TEST_REPLACED");
}

TEST_CASE("a program that is not there gives the number of the error")
{
    pid_t id = 0;
    CHECK(start_process(id, {"no-such-program-of-roof"}, {}, nullptr, nullptr) == ENOENT);
}

TEST_CASE(
    "what a library prints on standard output goes to standard error; a program that is started has standard output")
{
    const fakes::TemporaryFolder folder;
    const int out = ::dup(STDOUT_FILENO);
    const int err = ::dup(STDERR_FILENO);
    for (const auto& [name, stream] : {std::pair{"out", STDOUT_FILENO}, {"err", STDERR_FILENO}}) {
        const int file = ::open((folder / name).c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
        ::dup2(file, stream);
        ::close(file);
    }
    keep_own_output();
    const bool is_written = ::write(own_output(), "own\n", 4) == 4 && ::write(STDOUT_FILENO, "library\n", 8) == 8;
    const int status = status_of({"sh", "-c", "echo child; echo error >&2"}, {});
    give_back_output();
    const bool is_back = ::write(STDOUT_FILENO, "back\n", 5) == 5;
    ::dup2(out, STDOUT_FILENO);
    ::dup2(err, STDERR_FILENO);
    const auto text = [&](const char* name) {
        std::ifstream in(folder / name);
        return std::string(std::istreambuf_iterator<char>(in), {});
    };
    CHECK((is_written && is_back && status == 0));
    CHECK(text("out") == "own\nchild\nback\n");
    CHECK(text("err") == "library\nerror\n");
    CHECK(own_output() == STDOUT_FILENO);
}

TEST_CASE("the program knows its own file")
{
    CHECK(std::filesystem::equivalent(program_path(), "/proc/self/exe"));
}

TEST_CASE("a thread keeps to its processors, and the threads that it starts as well")
{
    const std::vector<int> before = processors_of_thread();
    REQUIRE(!before.empty());
    REQUIRE(keep_thread_to({before.back()}) == 0);
    CHECK(processors_of_thread() == std::vector<int>{before.back()});
    std::vector<int> of_other;
    std::thread([&] { of_other = processors_of_thread(); }).join();
    CHECK(of_other == std::vector<int>{before.back()});
    REQUIRE(keep_thread_to(before) == 0);
    CHECK(processors_of_thread() == before);
    CHECK(keep_thread_to({}) == EINVAL);
    CHECK(keep_thread_to({1 << 19}) == EINVAL);  // a set larger than the kernel's, without a processor of this machine
}

TEST_CASE("errors of libraries are told in own words")
{
    const auto words = [](const auto& call) {
        try {
            call();
        } catch (const std::exception& error) {
            return in_own_words(error);
        }
        return std::string();
    };
    CHECK(words([] { static_cast<void>(std::filesystem::file_size("/dev/null/none")); }) ==
          "cannot use /dev/null/none: Not a directory");
    CHECK(words([] { throw Error("a.json: byte 3: [json.exception.parse_error.101] parse error at line 1"); }) ==
          "a.json: byte 3: parse error at line 1");
    CHECK(words([] { throw Error("plain"); }) == "plain");
    const std::filesystem::path here = std::filesystem::current_path();
    {
        const fakes::TemporaryFolder folder;
        std::filesystem::current_path(folder.path());
        std::filesystem::remove_all(folder.path());
        CHECK(words([] {
                  static_cast<void>(std::filesystem::absolute("x"));
              }).find("the working folder is not there") == 0);
    }
    std::filesystem::current_path(here);
}
