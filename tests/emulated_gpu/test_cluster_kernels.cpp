// The kernels of clusters of blocks on the emulated device, against the results that the probes themselves expect.
#include "ert/base/error.hpp"
#include "ert/gpu/kernels/chase.hpp"
#include "ert/gpu/kernels/cluster.hpp"
#include "tests/emulated_gpu/emulated_memory.hpp"
#include "tests/emulated_gpu/readings.hpp"

#include <utility>

using namespace roof;
using namespace roof::gpu;
using emulated::Array;
using emulated::in_all_schedules;

TEST_CASE("blocks of a cluster read one another's shared memory, each that of all others", "[kernels]")
{
    emulated::Card& card = emulated::machine().device(0).card;
    const int multiprocessors = std::exchange(card.multiprocessors, 4);
    emulated::machine().device(0).caches = emulated::Caches(card);
    CHECK(resident_clusters(cluster_kernel_of(ClusterOperation::load, 2)) == 2);
    CHECK(resident_clusters(cluster_kernel_of(ClusterOperation::load, 8)) == 0);
    for (const int size : {2, 4}) {
        in_all_schedules([&] {
            constexpr int blocks = 4;
            const Array<std::uint32_t> results(std::size_t{blocks} * cluster_threads);
            const auto iterations = static_cast<unsigned>(size);
            const auto run = [&](ClusterOperation operation, int count) {
                const Readings readings;
                enqueue(cluster_kernel_of(operation, size), {results.data(), readings.data(), blocks, size, count},
                        nullptr);
                std::vector<std::uint32_t> found = results.values();
                readings.check();
                return found;
            };
            const std::vector<std::uint32_t> sums = run(ClusterOperation::load, size);
            for (std::uint32_t i = 0; i < sums.size(); ++i) {
                const unsigned rank = i / cluster_threads % iterations;
                REQUIRE(sums[i] == cluster_sum(rank, iterations, i % cluster_threads, iterations));
            }
            const std::vector<std::uint32_t> places = run(ClusterOperation::chase, size);
            for (std::size_t i = 0; i < blocks; ++i)
                CHECK(places[i] == chase_position(cluster_words, iterations * cluster_chase_unroll));
            // Once through nearly all words.
            const std::vector<std::uint32_t> last =
                run(ClusterOperation::chase, cluster_words / cluster_chase_unroll - 1);
            CHECK(last[blocks - 1] == chase_position(cluster_words, cluster_words - cluster_chase_unroll));
        });
    }
    CHECK_THROWS_AS(enqueue(cluster_kernel_of(ClusterOperation::load, 8), {nullptr, nullptr, 8, 8, 1}, nullptr), Error);
    card.multiprocessors = multiprocessors;
    emulated::machine().device(0).caches = emulated::Caches(card);
}
