// Threads stay on their processors during a step's lifetime.
#include "ert/base/error.hpp"
#include "ert/base/processors.hpp"
#include "workloads/kernels/parallel.hpp"
#include "workloads/model/graph.hpp"
#include "workloads/onednn/step.hpp"
#include "workloads/parallel/place.hpp"

#include <omp.h>
#include <catch2/catch.hpp>

#include <set>
#include <string>
#include <vector>

using namespace roof;
using namespace roof::onednn;

namespace {

/// The processors that each thread of a region may run on.
std::vector<std::vector<int>> allowed_by_thread(int threads)
{
    std::vector<std::vector<int>> all(static_cast<std::size_t>(threads));
#pragma omp parallel num_threads(threads)
    all[static_cast<std::size_t>(omp_get_thread_num())] = processors_of_thread();
    return all;
}

}  // namespace

TEST_CASE("Each thread of a step is pinned to its own processor and unpinned afterwards")
{
    const std::vector<int> before = processors_of_thread();
    const int threads = static_cast<int>(before.size());
    {
        const Step step(model::build_model("alexnet", 10), {.batch = 1, .threads = threads}, "synthetic", 1);
        std::set<int> processors;
        for (const std::vector<int>& allowed : allowed_by_thread(threads)) {
            REQUIRE(allowed.size() == 1);
            processors.insert(allowed.front());
        }
        CHECK(processors == std::set<int>(before.begin(), before.end()));
        CHECK_THAT(step.variant(), Catch::Contains("threads on processors "));
    }
    for (const std::vector<int>& allowed : allowed_by_thread(threads)) CHECK(allowed == before);
}

TEST_CASE("No thread is pinned if there are fewer allowed processors than threads")
{
    const std::vector<int> before = processors_of_thread();
    const int threads = static_cast<int>(before.size()) + 1;
    const PinnedThreads pinned(threads);
    CHECK_FALSE(pinned.hold());
    CHECK(pinned.describe() == "threads not pinned");
    for (const std::vector<int>& allowed : allowed_by_thread(threads)) CHECK(allowed == before);
}

TEST_CASE("A thread that starts during a step may run on all processors")
{
    const std::vector<int> before = processors_of_thread();
    const PinnedThreads pinned(1);
    REQUIRE(pinned.hold());
    CHECK(processors_of_thread() == pinned.processors());
    CHECK(pinned.starting_free_threads([] { return processors_of_thread(); }) == before);
    CHECK(processors_of_thread() == pinned.processors());
}

TEST_CASE("A step whose threads OpenMP does not give is refused: part of it would not be computed")
{
    kernels::require_team(2);
    std::string reason;
#pragma omp parallel num_threads(2)
#pragma omp master
    try {
        kernels::require_team(2);  // a region within a region has one thread
    } catch (const Error& error) {
        reason = error.what();
    }
    CHECK_THAT(reason, Catch::Contains("OpenMP gave 1 threads where 2 were asked for"));
}
