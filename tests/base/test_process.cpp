#include "ert/base/process.hpp"

#include <sys/wait.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <cstdlib>

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
