// Layouts of other machines, as hwloc describes them.
#include "cpu/topology.hpp"

#include <catch2/catch.hpp>

#include <hwloc.h>

using namespace roof::cpu;

namespace {

/// Two packages with a NUMA node each, with two cores of two hardware threads each: 8 processors, siblings adjacent.
constexpr const char* two_by_two_by_two = "pack:2 [numa] core:2 pu:2";

Layout layout(const char* description, const std::vector<int>& allowed)
{
    hwloc_topology_t topology = nullptr;
    REQUIRE(hwloc_topology_init(&topology) == 0);
    REQUIRE(hwloc_topology_set_synthetic(topology, description) == 0);
    REQUIRE(hwloc_topology_load(topology) == 0);
    Layout found = layout_of(topology, allowed);
    hwloc_topology_destroy(topology);
    return found;
}

using List = std::vector<int>;

}  // namespace

TEST_CASE("threads use all cores before they share one, or fill one before the next")
{
    const Layout found = layout(two_by_two_by_two, {0, 1, 2, 3, 4, 5, 6, 7});
    CHECK(found.processors.spread == List{0, 2, 4, 6, 1, 3, 5, 7});
    CHECK(found.processors.packed == List{0, 1, 2, 3, 4, 5, 6, 7});
    CHECK(found.sockets == 2);
    CHECK(found.cores == 4);
    CHECK(found.threads == 8);
    CHECK(found.numa_nodes == 2);
}

TEST_CASE("each node has the processors nearest to it")
{
    const Layout found = layout(two_by_two_by_two, {0, 1, 2, 3, 4, 5, 6, 7});
    REQUIRE(found.nodes.size() == 2);
    CHECK(found.nodes[0].number == 0);
    CHECK(found.nodes[0].processors.spread == List{0, 2, 1, 3});
    CHECK(found.nodes[1].number == 1);
    CHECK(found.nodes[1].processors.spread == List{4, 6, 5, 7});
    CHECK(found.nodes[1].processors.packed == List{4, 5, 6, 7});
}

TEST_CASE("cores of one kind are alike, and those of the first node are near")
{
    const Layout found = layout(two_by_two_by_two, {0, 1, 2, 3, 4, 5, 6, 7});
    CHECK(found.alike.processors == List{0, 1, 2, 3, 4, 5, 6, 7});
    CHECK(found.alike.near == List{0, 2});
    CHECK(granted_topology(found, 1).alike.near == List{0});
}

TEST_CASE("processors that are not allowed are left out")
{
    const Layout found = layout(two_by_two_by_two, {1, 2, 3});
    CHECK(found.processors.spread == List{1, 2, 3});
    CHECK(found.cores == 2);
    CHECK(found.threads == 3);
    CHECK(found.machine_threads == 8);
    REQUIRE(found.nodes.size() == 2);
    CHECK(found.nodes[1].processors.spread.empty());
}

TEST_CASE("a machine without caches or packages has a layout")
{
    const Layout found = layout("pu:3", {0, 1, 2});
    CHECK(found.caches.empty());
    CHECK(found.sockets == 1);
    CHECK(found.processors.spread == List{0, 1, 2});
    CHECK(found.nodes.size() == 1);
}

TEST_CASE("caches are counted with the threads that share them")
{
    const Layout found = layout("pack:1 l3:2(size=33554432) core:4 l1d:1(size=32768) pu:2", {0});
    REQUIRE(found.caches.size() == 2);
    CHECK(found.caches[0].name == "L1");
    CHECK(found.caches[0].instances == 8);
    CHECK(found.caches[1].name == "L3");
    CHECK(found.caches[1].capacity.value == 32 << 20);
    CHECK(found.caches[1].shared_by == 8);
}
