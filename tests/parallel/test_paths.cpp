#include "workloads/parallel/place.hpp"

#include "ert/base/error.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <set>

using namespace roof;
using namespace roof::parallel;

namespace {

const std::vector<std::string> two_by_two{"a", "a", "b", "b"};

}  // namespace

TEST_CASE("pairs take one rank of each node, and groups double nodes and ranks")
{
    const Paths paths = paths_between(two_by_two);
    CHECK(paths.pairs == std::vector<std::string>{"0-2"});
    CHECK(paths.groups == std::vector<std::string>{"2x1", "2x2"});
    CHECK(ranks_on("2x1", two_by_two) == std::vector<int>{0, 2});
    CHECK(ranks_on("2x2", two_by_two) == std::vector<int>{0, 1, 2, 3});
    CHECK(ranks_on("2x2", {"a", "b", "a", "b"}) == std::vector<int>{0, 1, 2, 3});
}

TEST_CASE("ranks of one node pair with each other")
{
    const Paths paths = paths_between({"a", "a", "a"});
    CHECK(paths.pairs == std::vector<std::string>{"0-1", "0-2", "1-2"});
    CHECK(paths.groups == std::vector<std::string>{"1x2", "1x3"});
    CHECK(paths_between({}).pairs.empty());
}

TEST_CASE("of many nodes five pairings are measured, in which each node has five or more pairs at most")
{
    std::vector<std::string> nodes;
    for (int i = 0; i < 100; ++i) nodes.push_back("n" + std::to_string(i));
    const Paths paths = paths_between(nodes);
    CHECK(paths.pairs.size() <= 250);
    CHECK(paths.pairs.size() >= 230);
    std::set<int> members;
    for (const std::string& pair : paths.pairs)
        for (const int rank : ranks_on(pair, nodes)) members.insert(rank);
    CHECK(members.size() == 100);
    CHECK(paths_between(nodes).pairs == paths.pairs);
}

TEST_CASE("of sixteen nodes all pairs are measured, of seventeen some, with each node")
{
    std::vector<std::string> nodes;
    for (int i = 0; i < 17; ++i) nodes.push_back("n" + std::to_string(i));
    const Paths paths = paths_between(nodes);
    std::set<int> members;
    for (const std::string& pair : paths.pairs)
        for (const int rank : ranks_on(pair, nodes)) members.insert(rank);
    CHECK(members.size() == 17);
    CHECK(paths.pairs.size() <= 5 * 9);
    nodes.pop_back();
    CHECK(paths_between(nodes).pairs.size() == 16 * 15 / 2);
}

TEST_CASE("a path names ranks and nodes that are there")
{
    for (const char* path : {"0-4", "1-0", "1-1", "3x1", "2x3", "1x1", "x", "2", "-1-2", "a-b", "2x", "0x2"})
        CHECK_THROWS_AS(ranks_on(path, two_by_two), InputError);
    for (const char* path : {"-1x2", "2x0", "2x", "x"})
        CHECK_THROWS_WITH(ranks_on(path, two_by_two), Catch::Contains("is neither two ranks"));
}
