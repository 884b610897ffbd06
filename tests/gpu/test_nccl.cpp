// The arithmetic of an all-reduce, and the library if it is installed.
#include "ert/gpu/kernels/numbers.hpp"
#include "ert/gpu/nccl.hpp"
#include "tests/skip.hpp"

#include <catch2/catch.hpp>

#include <cstdint>

using namespace roof;
using namespace roof::gpu;

namespace {

/// Parts of the message that a rank of a ring sends, of as many parts as ranks: to the next rank goes in each step one
/// part that is summed there, until each rank has the whole sum of one part, and then one part that is done, until all
/// have all.
int parts_sent_in_ring(int ranks)
{
    std::vector<int> summed(static_cast<std::size_t>(ranks), 1);  // of part p, how many ranks' numbers its holder has
    int sent = 0;
    for (; summed.front() < ranks; ++sent) {
        for (int& part : summed) ++part;
    }
    int complete = 1;  // parts that each rank has
    for (; complete < ranks; ++sent) ++complete;
    return sent;
}

}  // namespace

TEST_CASE("the bus factor of an all-reduce is the share of its message that each rank of a ring sends")
{
    CHECK(bus_factor(1) == 0);
    CHECK(bus_factor(8) == 1.75);
    for (const int ranks : {2, 3, 4, 8, 16})
        CHECK(bus_factor(ranks) == Approx(1.0 * parts_sent_in_ring(ranks) / ranks));
}

TEST_CASE("ranks hold different numbers, whose sums are exact")
{
    for (std::size_t index = 0; index < 3 * number_period; index += 4099) {
        std::uint64_t sum = 0;
        for (int rank = 0; rank < most_ranks; ++rank) sum += static_cast<std::uint64_t>(array_word(index, rank));
        CHECK(sum < (std::uint64_t{1} << 24));
        CHECK(static_cast<std::uint64_t>(sum_of_ranks(index, most_ranks)) == sum);
        CHECK(sum_of_ranks(index, 1) == array_word(index, 0));
    }
    CHECK(array_word(5, 0) != array_word(5, 1));
    CHECK(array_word(number_period + 5, 2) == array_word(5, 2));
}

TEST_CASE("NCCL reports its version")
{
    const auto library = Nccl::open();
    if (library == nullptr) return skip("libnccl.so.2 was not found");
    CHECK_THAT(library->version(), Catch::StartsWith("2."));
}
