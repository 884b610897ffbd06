// The search for the number of repetitions, with a fake clock.
#include "ert/method/bench/search.hpp"

#include <catch2/catch.hpp>

using namespace roof;

TEST_CASE("short work is repeated until it takes about the target")
{
    double now = 0;
    const auto work = [&](std::size_t n) { now += 1e-6 * static_cast<double>(n); };
    CHECK(repetitions_for(Seconds{1e-3}, work, [&] { return Seconds{now}; }) == 1000);
}

TEST_CASE("work longer than the target runs once")
{
    double now = 0;
    const auto work = [&](std::size_t n) { now += 0.5 * static_cast<double>(n); };
    CHECK(repetitions_for(Seconds{1e-3}, work, [&] { return Seconds{now}; }) == 1);
}

TEST_CASE("two disturbed calls do not end the search")
{
    double now = 0;
    int calls = 0;
    const auto work = [&](std::size_t n) {
        now += 1e-6 * static_cast<double>(n) + (++calls == 2 || calls == 3 ? 1.0 : 0.0);
    };
    CHECK(repetitions_for(Seconds{1e-3}, work, [&] { return Seconds{now}; }) == 1000);
}
