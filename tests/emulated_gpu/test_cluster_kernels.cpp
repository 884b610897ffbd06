// The kernels of clusters of blocks on the emulated device, against the results that the probes themselves expect.
#include "ert/base/error.hpp"
#include "ert/gpu/kernels/chase.hpp"
#include "ert/gpu/kernels/cluster.hpp"
#include "tests/emulated_gpu/emulated_memory.hpp"

#include <utility>

using namespace roof;
using namespace roof::gpu;
using emulated::Array;
using emulated::in_all_schedules;

TEST_CASE("blocks of a cluster read one another's shared memory, each that of all others", "[kernels]")
{
    emulated::Card& card = emulated::machine().device(0).card;
    const int multiprocessors = std::exchange(card.multiprocessors, 4);
    CHECK(resident_clusters(ClusterOperation::load, 2) == 2);
    CHECK(resident_clusters(ClusterOperation::load, 8) == 0);
    for (const int size : {2, 4}) {
        in_all_schedules([&] {
            constexpr int blocks = 4;
            const Array<std::uint32_t> results(std::size_t{blocks} * cluster_threads);
            const auto iterations = static_cast<unsigned>(size);
            const ClusterLaunch launch{results.data(), nullptr, blocks, size, size};
            enqueue_cluster(ClusterOperation::load, launch, nullptr);
            const std::vector<std::uint32_t> sums = results.values();
            for (std::uint32_t i = 0; i < sums.size(); ++i) {
                const unsigned rank = i / cluster_threads % iterations;
                REQUIRE(sums[i] == cluster_sum(rank, iterations, i % cluster_threads, iterations));
            }
            enqueue_cluster(ClusterOperation::chase, launch, nullptr);
            const std::vector<std::uint32_t> places = results.values();
            for (std::size_t i = 0; i < blocks; ++i)
                CHECK(places[i] == chase_position(cluster_words, iterations * cluster_chase_unroll));
            // Once through nearly all words.
            ClusterLaunch whole = launch;
            whole.iterations = cluster_words / cluster_chase_unroll - 1;
            enqueue_cluster(ClusterOperation::chase, whole, nullptr);
            CHECK(results.values()[blocks - 1] == chase_position(cluster_words, cluster_words - cluster_chase_unroll));
        });
    }
    CHECK_THROWS_AS(enqueue_cluster(ClusterOperation::load, {nullptr, nullptr, 8, 8, 1}, nullptr), Error);
    card.multiprocessors = multiprocessors;
}
