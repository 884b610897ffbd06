#include "ert/method/bench/available_memory.hpp"
#include "tests/onednn/allocations.hpp"
#include "tests/onednn/hashed_training.hpp"
#include "workloads/onednn/program/arena.hpp"

#include <catch2/catch.hpp>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

using namespace roof;
using namespace roof::onednn;

namespace {

/// Of this process, in bytes: "VmRSS:" now, "VmHWM:" the most since reset_peak().
double resident(const std::string& key)
{
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;) {
        double kibibytes = 0;
        if (word == key && status >> kibibytes) return kibibytes * 1024;
    }
    return 0;
}

bool reset_peak()
{
    std::ofstream file("/proc/self/clear_refs");
    return static_cast<bool>(file << 5 << std::flush);
}

}  // namespace

TEST_CASE("An arena begins at a huge page and is zero")
{
    const Arena arena(3 << 20, "a test");
    CHECK(reinterpret_cast<std::uintptr_t>(arena.at(0)) % (2 << 20) == 0);
    CHECK(*arena.at((3 << 20) - 1) == std::byte{0});
}

TEST_CASE("More memory than there is, is refused with both figures")
{
    const std::size_t petabyte = std::size_t{1} << 50;
    try {
        const Arena arena(petabyte, "a test");
        FAIL("no exception");
    } catch (const OutOfMemory& error) {
        CHECK(error.wanted.value == static_cast<double>(petabyte));
        CHECK(error.available.value > 0);
        CHECK(error.available <= available_memory() * 2);
    }
}

TEST_CASE("A batch that cannot fit is out of memory, and says how much it wanted")
{
    const model::Graph graph = model::build_model("resnet18");
    for (const int batch : {8192, 65536}) {
        INFO(batch);
        try {
            const Network network(graph, {.batch = batch, .threads = 2});
            FAIL("no exception");
        } catch (const OutOfMemory& error) {
            const double kept =
                16.5e6 * batch;  // bytes: inputs of convolutions and batch norms, which the way back reads
            CHECK(error.wanted.value > kept);
            CHECK(error.wanted.value < 1.5 * kept);
        }
    }
}

TEST_CASE("A step in its stride allocates no tensor")
{
    const long at_first = large_allocations();
    const std::vector<char> seen(large_allocation);
    REQUIRE(large_allocations() > at_first);

    HashedTraining training("resnet18");
    training.differentiate();
    training.update();
    const long before = large_allocations();
    training.differentiate();
    training.update();
    CHECK(large_allocations() == before);
}

TEST_CASE("The memory predicted is what training takes, within a twentieth")
{
    if (!reset_peak()) return;  // a kernel that keeps no such records
    const double before = resident("VmRSS:");
    HashedTraining training("resnet50");
    for (int step = 0; step < 2; ++step) {
        training.differentiate();
        training.update();
    }
    CHECK(resident("VmHWM:") - before == Approx(training.network().memory().value).epsilon(0.05));
}
