// The search for the fastest candidate on simulated machines, and for the number of repetitions, with a fake clock.
#include "ert/method/bench/search.hpp"
#include "tests/method/simulated_candidates.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>
#include <map>

using namespace roof;
using namespace roof::test;

namespace {

constexpr double never = std::numeric_limits<double>::infinity();
constexpr SearchBudget usual{.time = Seconds{0.2}};

/// Counts the runs of candidates that always take the same time.
struct Fixed {
    std::vector<double> seconds;
    double now = 0;
    std::vector<std::size_t> asked{};

    Fastest search(const SearchBudget& budget, Turns earlier = {})
    {
        return fastest_of(
            seconds.size(), budget,
            [&](std::size_t i) {
                asked.push_back(i);
                now += seconds[i] < never ? seconds[i] : 0.001;
                return seconds[i];
            },
            [&] { return Seconds{now}; }, std::move(earlier));
    }
    std::ptrdiff_t runs(std::size_t candidate) const { return std::ranges::count(asked, candidate); }
};

/// Time of the chosen candidate over that of the best, after at most so many searches that go on from each other.
double regret(const Kind& kind, std::uint64_t seed, int searches)
{
    SimulatedMachine machine = draw(kind, seed);
    const std::vector<double> times = machine.true_seconds();
    Fastest found;
    for (int i = 0; i < searches && !found.is_decided; ++i) {
        found = fastest_of(
            times.size(), usual, [&](std::size_t candidate) { return machine.run(candidate); }, machine.clock(),
            std::move(found.turns));
        machine.pause(100);
    }
    return times[found.candidate] / *std::ranges::min_element(times);
}

}  // namespace

TEST_CASE("the fastest of several candidates is found, and the first of equal ones")
{
    CHECK(Fixed{{2, 2, 1, 2}}.search(usual).candidate == 2);
    CHECK(Fixed{{1, 1, 1}}.search(usual).candidate == 0);
    CHECK(Fixed{{1.001, 1, 1}}.search(usual).candidate == 0);
    CHECK(Fixed{{1.004, 1, 1}}.search(usual).candidate == 1);
    CHECK(Fixed{{7}}.search(usual).cost == 7);
}

TEST_CASE("each candidate runs once in a turn, in an order that changes")
{
    Fixed same{{0.001, 0.001, 0.001}};
    const Fastest found = same.search(usual);
    CHECK(found.is_decided);
    REQUIRE(same.asked.size() == 3 * 8);  // two turns for each of four groups
    std::map<std::vector<std::size_t>, int> orders;
    for (std::size_t begin = 0; begin < same.asked.size(); begin += 3) {
        std::vector<std::size_t> turn(same.asked.begin() + static_cast<std::ptrdiff_t>(begin),
                                      same.asked.begin() + static_cast<std::ptrdiff_t>(begin + 3));
        ++orders[turn];
        std::ranges::sort(turn);
        CHECK(turn == std::vector<std::size_t>{0, 1, 2});
    }
    CHECK(orders.size() > 2);
}

TEST_CASE("slow candidates are given up, and a candidate that cannot run is tried once")
{
    Fixed some{{0.001, 0.0011, 0.0035, 0.0018, never}};
    const Fastest found = some.search(usual);
    CHECK(found.candidate == 0);
    CHECK(found.is_decided);
    CHECK(some.runs(4) == 1);
    CHECK(some.runs(2) == 2);
    CHECK(some.runs(3) == 4);
    CHECK(some.runs(1) == 8);
    const Fastest none = Fixed{{never, never}}.search(usual);
    CHECK(none.cost == never);
    CHECK_FALSE(none.is_decided);
}

TEST_CASE("a search ends in time, and another one goes on from its turns")
{
    Fixed slow{{0.1, 0.101}};
    const Fastest first = slow.search(usual);
    CHECK(slow.asked.size() == 2 * 4);  // the least, past the budget
    CHECK_FALSE(first.is_decided);
    const Fastest second = slow.search(usual, first.turns);
    CHECK(slow.asked.size() == 2 * 8);
    CHECK(second.is_decided);
    CHECK(second.turns[1] == std::vector<double>(8, 0.101));
    slow.search(usual, second.turns);
    CHECK(slow.asked.size() == 2 * 8);

    int runs = 0;
    double now = 0;
    const Fastest all = fastest_of(
        2, {.time = Seconds{10}, .most_turns = 12},
        [&](std::size_t i) {
            const bool is_early = runs++ / 2 % 4 < 2;  // half of the groups of turns contradict the others
            return is_early == (i == 0) ? 1 : 1.1;
        },
        [&] { return Seconds{now += 0.001}; });
    CHECK_FALSE(all.is_decided);
    CHECK(all.turns[all.candidate].size() == 12);
}

TEST_CASE("where time is short only the best few go on")
{
    Fixed many{std::vector<double>(20, 0.01)};
    many.seconds[17] = 0.009;
    const Fastest found = many.search(usual);
    CHECK(found.candidate == 17);
    CHECK(many.asked.size() == 2 * 20 + 2 * 5);
}

TEST_CASE("the choice is near the best on simulated machines with interference")
{
    constexpr std::size_t machines = 1000;
    constexpr int searches = 5;
    for (const std::vector<Kind>* const kinds : {&design_kinds(), &judging_kinds()}) {
        for (const Kind& kind : *kinds) {
            std::vector<double> found;
            for (std::uint64_t seed = 1; seed <= machines; ++seed) found.push_back(regret(kind, seed, searches));
            std::ranges::sort(found);
            INFO(kind.name << ": median " << found[machines / 2] << ", upper 97.5% " << found[machines * 39 / 40]);
            CHECK(found[machines / 2] == 1);
            CHECK(found[machines * 39 / 40] <= (kinds == &judging_kinds() ? 1.03 : 1.05));
        }
    }
}

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
