// The order of an epoch: a different permutation for every key.
#include "workloads/data/source.hpp"

#include <catch2/catch.hpp>
#include <set>
#include <vector>

using namespace roof::data;

namespace {

std::vector<std::uint64_t> order(std::uint64_t count, std::uint64_t key)
{
    std::vector<std::uint64_t> places;
    for (std::uint64_t place = 0; place < count; ++place) places.push_back(shuffled(place, count, key));
    return places;
}

}  // namespace

TEST_CASE("a shuffled order contains every image once, for any number of images")
{
    for (const std::uint64_t count : {1, 2, 3, 4, 5, 16, 17, 1000, 1025}) {
        const std::vector<std::uint64_t> places = order(count, 7);
        const std::set<std::uint64_t> distinct(places.begin(), places.end());
        INFO(count << " images");
        CHECK(distinct.size() == count);
        CHECK(*distinct.rbegin() == count - 1);
    }
}

TEST_CASE("different keys give different orders, and none is the order of the files")
{
    std::set<std::vector<std::uint64_t>> orders{{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}};
    for (std::uint64_t key = 0; key < 50; ++key) orders.insert(order(10, combined(key, 0)));
    CHECK(orders.size() == 51);
}

TEST_CASE("every image is first about equally often")
{
    std::vector<int> firsts(10);
    for (std::uint64_t key = 0; key < 5000; ++key) ++firsts[shuffled(0, 10, combined(1, key))];
    for (const int count : firsts) CHECK(count == Approx(500).margin(120));
}

TEST_CASE("a combined key depends on both numbers and on their order")
{
    CHECK(combined(1, 2) != combined(2, 1));
    CHECK(combined(1, 2) != combined(1, 3));
    CHECK(combined(0, 0) != combined(0, 1));
}
