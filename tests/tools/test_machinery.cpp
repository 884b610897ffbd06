// The parts that use the operating system: signals, and shared objects.
#include "tests/fakes/fake_registry.hpp"
#include "tools/roof/binary/binary.hpp"
#include "tools/roof/console/process.hpp"

#include <catch2/catch.hpp>

using namespace roof;

TEST_CASE("the first interrupt is recorded, and the second has the default action")
{
    struct sigaction before {};
    sigaction(SIGTERM, nullptr, &before);
    {
        const InterruptGuard guard;
        CHECK_FALSE(InterruptGuard::raised());
        std::raise(SIGTERM);
        CHECK(InterruptGuard::raised());
        struct sigaction now {};
        sigaction(SIGTERM, nullptr, &now);
        CHECK(now.sa_handler == SIG_DFL);
    }
    CHECK_FALSE(InterruptGuard{}.raised());
    struct sigaction after {};
    sigaction(SIGTERM, nullptr, &after);
    CHECK(after.sa_handler == before.sa_handler);
}

TEST_CASE("a shared part that cannot be opened is absent with the loader's reason and a remedy")
{
    BenchRegistry registry;
    add_shared_part(registry, "gpu", "roof_no_such_part.so", "gpu", "bandwidth");
    REQUIRE(registry.absent().size() == 1);
    CHECK(registry.absent().front().name == "gpu");
    CHECK_THAT(registry.absent().front().reason, Catch::Contains("roof_no_such_part.so"));
    CHECK_FALSE(registry.absent().front().remedy.empty());
}
