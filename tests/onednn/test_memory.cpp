#include "ert/method/bench/process_limits.hpp"
#include "tests/onednn/allocations.hpp"
#include "tests/onednn/hashed_training.hpp"
#include "tests/skip.hpp"
#include "workloads/kernels/convolution.hpp"
#include "workloads/onednn/program/program.hpp"

#include <catch2/catch.hpp>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

using namespace roof;
using namespace roof::onednn;

namespace {

/// Memory of this process in bytes: "VmRSS:" now, "VmHWM:" the maximum since reset_peak().
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

TEST_CASE("A batch that does not fit throws OutOfMemory with the required size")
{
    const model::Graph graph = model::build_model("resnet18");
    for (const int batch : {8192, 65536}) {
        INFO(batch);
        try {
            const Network network(graph, {.batch = batch, .threads = 2});
            FAIL("no exception");
        } catch (const OutOfMemory& error) {
            const double kept =
                16.5e6 * batch;  // bytes: inputs of convolutions and batch norms, which the backward pass reads
            CHECK(error.wanted.value > kept);
            CHECK(error.wanted.value < 1.5 * kept);
        }
    }
}

TEST_CASE("A second step allocates no tensor")
{
    if (kernels::convolution_lanes() == 0)
        return skip("oneDNN's matrix product, all there is here, allocates by itself");
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

TEST_CASE("Predicted memory is within 5% of what training uses")
{
    // Of AlexNet, one matrix of weights is a quarter of all.
    for (const std::string model : {"resnet50", "alexnet"}) {
        INFO(model);
        if (!reset_peak()) return skip("this kernel does not record the peak of memory");
        const double before = resident("VmRSS:");
        HashedTraining training(model);
        for (int step = 0; step < 2; ++step) {
            training.differentiate();
            training.update();
        }
        CHECK(resident("VmHWM:") - before == Approx(training.network().memory().value).epsilon(0.05));
    }
}
