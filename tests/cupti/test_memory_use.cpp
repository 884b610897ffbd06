// Interpretation of the share of bandwidth that NVML's GPM reports, without GPM.
#include "ert/base/error.hpp"
#include "ert/cupti/step_profiler.hpp"

#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::cupti;

namespace {

Device with_memory()
{
    Device device;
    device.facts = {{"memory_clock_khz", "3000000"}, {"memory_bus_bits", "6144"}};
    return device;
}

}  // namespace

TEST_CASE("a share of the memory's bandwidth over a launch gives its bytes")
{
    const MemoryUse use{0.25, Seconds{0.01}};
    CHECK(bytes_of(use, with_memory()).value == Approx(0.25 * 0.01 * 2 * 3e9 * 768));
    CHECK(bytes_of(use, Device{}).value == 0);
    CHECK_THAT(describe(use, with_memory()),
               Catch::Contains("moved 11.5 GB per launch") && Catch::Contains("25.0% of 4608 GB/s"));
}

TEST_CASE("a share of bandwidth that gives fewer bytes than must move is left out")
{
    const MemoryUse use{0.25, Seconds{0.01}};  // 11.52 GB
    CHECK_NOTHROW(require_bytes(use, with_memory(), Bytes{11.5e9}));
    CHECK_THROWS_WITH(require_bytes(use, with_memory(), Bytes{11.6e9}),
                      Catch::Contains("moved 11.5 GB per launch, less than the 11.6 GB"));
}

TEST_CASE("a machine without the driver reports that it has no GPM")
{
    int launches = 0;
    try {
        const MemoryUse use = memory_use(0, [&] { ++launches; });
        CHECK(use.share <= 1);
        CHECK(launches > 0);
    } catch (const Unsupported& error) {
        CHECK_THAT(error.what(), Catch::Contains("GPM"));
        CHECK(launches == 0);
    }
}
