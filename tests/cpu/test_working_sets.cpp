// Default working sets on machines with much and little memory and cache.
#include "cpu/probes/choices.hpp"
#include "tests/cpu/probe_bed.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::cpu;
using namespace roof::cpu::test;
using Catch::Matchers::Contains;

namespace {

constexpr double mebibyte = 1 << 20;

Machine with(double last_cache, double available)
{
    Machine machine = small_machine();
    machine.devices.front().levels.push_back({"L3", Bytes{last_cache}, 4, 16});
    machine.devices.front().levels.push_back({"DRAM", Bytes{1e12}, 1, 32});
    machine.devices.front().memory_available = Bytes{available};
    return machine;
}

bool ascends(const std::vector<std::string>& sets)
{
    return std::is_sorted(sets.begin(), sets.end(), [](auto& a, auto& b) { return std::stoll(a) < std::stoll(b); });
}

}  // namespace

TEST_CASE("working sets ascend from 8 KiB to four times the largest caches together")
{
    CHECK(usual_working_sets(small_machine()).back() == std::to_string(256 << 20));
    const std::vector<std::string> sets = usual_working_sets(with(256 * mebibyte, 1e12));
    CHECK(sets.front() == "8192");
    CHECK(sets[1] == "12288");
    CHECK(std::stoll(sets.back()) == 4LL << 30);
    CHECK(ascends(sets));
    CHECK(sets.size() < 45);
}

TEST_CASE("working sets use at most half of the available memory, and too little of it is reported")
{
    const Machine machine = with(64 * mebibyte, 300 * mebibyte);
    CHECK(usual_working_sets(machine).back() == std::to_string(128 << 20));
    const std::string inconsistency = sweep_inconsistency(machine).value_or("");
    CHECK_THAT(inconsistency, Contains("only 300 MiB") && Contains("ends at 128 MiB"));
    CHECK_FALSE(sweep_inconsistency(with(64 * mebibyte, 1e12)));
    CHECK_FALSE(sweep_inconsistency(small_machine()));
}

TEST_CASE("a machine with almost no memory still has a working set")
{
    CHECK(usual_working_sets(with(mebibyte, 1000)) == std::vector<std::string>{"8192"});
    CHECK(usual_chase_sets(with(mebibyte, 1000)) == std::vector<std::string>{"8192"});
}

TEST_CASE("missing or empty cache reports do not shorten the sweep")
{
    Machine machine = small_machine();
    machine.devices.front().levels.clear();
    CHECK(usual_working_sets(machine).back() == std::to_string(256 << 20));
    CHECK(usual_working_sets(with(0, 1e12)).back() == std::to_string(256 << 20));
    CHECK_FALSE(sweep_inconsistency(machine));
}

TEST_CASE("a chase ascends as loads do, to four times the largest cache that one thread reaches")
{
    const std::vector<std::string> sets = usual_chase_sets(small_machine());
    CHECK(sets.front() == "8192");
    CHECK(sets[1] == "12288");
    CHECK(sets.back() == std::to_string(128 << 20));
    CHECK(usual_chase_sets(with(64 * mebibyte, 1e12)).back() == std::to_string(256 << 20));
    CHECK(ascends(sets));
}
