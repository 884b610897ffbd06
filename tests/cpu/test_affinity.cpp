// PinnedTeam: the processors of its threads, and the restored affinity.
#include "cpu/affinity.hpp"
#include "cpu/topology.hpp"
#include "ert/base/error.hpp"

#include <atomic>
#include <catch2/catch.hpp>

#include <sched.h>

using namespace roof;
using namespace roof::cpu;

namespace {

cpu_set_t current()
{
    cpu_set_t set;
    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof set, &set);
    return set;
}

}  // namespace

TEST_CASE("a team restores the affinity of every thread")
{
    const cpu_set_t before = current();
    const std::vector<int> processors = read_layout().processors.spread;
    {
        const PinnedTeam team(processors);
        const cpu_set_t inside = current();
        CHECK(CPU_COUNT(&inside) == 1);
    }
    const cpu_set_t after = current();
    CHECK(CPU_EQUAL(&before, &after));

    std::atomic<int> different = 0;
#pragma omp parallel num_threads(static_cast <int>(processors.size()))
    {
        const cpu_set_t set = current();
        if (!CPU_EQUAL(&before, &set)) ++different;
    }
    CHECK(different == 0);
}

TEST_CASE("each thread of a team runs only on its own processor")
{
    const std::vector<int> processors = read_layout().processors.spread;
    const PinnedTeam team(processors);
    std::vector<cpu_set_t> sets(processors.size());
    team.run([&](int thread) { sets[thread] = current(); });
    for (std::size_t thread = 0; thread < processors.size(); ++thread) {
        CHECK(CPU_COUNT(&sets[thread]) == 1);
        CHECK(CPU_ISSET(processors[thread], &sets[thread]));
    }
}

TEST_CASE("a processor that does not exist is an error, and the affinity is restored")
{
    const cpu_set_t before = current();
    CHECK_THROWS_AS(PinnedTeam({CPU_SETSIZE - 1}), Error);
    CHECK_THROWS_AS(PinnedTeam(std::vector<int>{}), Error);
    const cpu_set_t after = current();
    CHECK(CPU_EQUAL(&before, &after));
}

TEST_CASE("an exception on one thread reaches the caller")
{
    const PinnedTeam team(read_layout().processors.spread);
    const int last = team.size() - 1;
    const auto work = [&](int thread) {
        if (thread == last) throw Error("thread trouble");
    };
    CHECK_THROWS_WITH(team.run(work), "thread trouble");
}
