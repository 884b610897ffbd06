// Where a thread puts memory for a GPU, from a description of the machine of our own.
#include "ert/base/files.hpp"
#include "ert/base/processors.hpp"
#include "tests/fakes/temporary_folder.hpp"

#include <sched.h>
#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::gpu;

TEST_CASE("a list of processors is read as Linux writes it")
{
    CHECK(processors_in("0-3,8\n") == std::vector{0, 1, 2, 3, 8});
    CHECK(processors_in("5") == std::vector{5});
    CHECK(processors_in("").empty());
    CHECK(processors_in("3-1").empty());
    CHECK(processors_in("0-1048576").empty());
    CHECK(processors_in("0-4095").size() == 4096);
    CHECK(processors_in("all").empty());
    for (const char* text : {"0,3-1", "0-x", "x-3", "-1-3", "0,"}) CHECK(processors_in(text).empty());
}

TEST_CASE("the processors near a GPU are those that its PCI device lists")
{
    const fakes::TemporaryFolder folder;
    std::filesystem::create_directories(folder / "0000:3b:00.0");
    write_file(folder / "0000:3b:00.0" / "local_cpulist", "12-13\n");
    CHECK(processors_near("0000:3B:00.0", folder / "") == std::vector{12, 13});
    CHECK(processors_near("0000:5E:00.0", folder / "").empty());
}

TEST_CASE("a thread is moved to the processors, and back")
{
    const int here = sched_getcpu();
    cpu_set_t before;
    REQUIRE(sched_getaffinity(0, sizeof(before), &before) == 0);
    {
        const OnProcessors near({here});
        cpu_set_t during;
        REQUIRE(sched_getaffinity(0, sizeof(during), &during) == 0);
        CHECK(CPU_COUNT(&during) == 1);
        CHECK(CPU_ISSET(static_cast<std::size_t>(here), &during));
    }
    cpu_set_t after;
    REQUIRE(sched_getaffinity(0, sizeof(after), &after) == 0);
    CHECK(CPU_EQUAL(&before, &after));
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(here), &one);
    {
        const OnProcessors nowhere({});
        REQUIRE(sched_getaffinity(0, sizeof(after), &after) == 0);
        CHECK(CPU_EQUAL(&before, &after));
        REQUIRE(sched_setaffinity(0, sizeof(one), &one) == 0);
    }
    REQUIRE(sched_getaffinity(0, sizeof(after), &after) == 0);
    CHECK(CPU_EQUAL(&one, &after));  // what was not moved is not moved back
    REQUIRE(sched_setaffinity(0, sizeof(before), &before) == 0);
}
