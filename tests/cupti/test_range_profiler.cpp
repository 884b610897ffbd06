// Counting with the fake CUPTI, which refuses calls out of order: repetitions, values, and errors.
#include "ert/base/error.hpp"
#include "ert/cupti/range_profiler.hpp"
#include "struct_sizes.hpp"
#include "variable.hpp"

#include <cupti_profiler_target.h>
#include <cupti_version.h>

#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::cupti;
namespace made = roof::cupti::made;
using roof::cupti::made::Variable;

namespace {

RangeProfiler profiler()
{
    return {Cupti::open({ROOF_FAKE_CUPTI}), 0, nullptr};
}

const std::vector<std::string> range_metrics{"gpu__time_duration.sum", "lts__t_bytes.sum"};

}  // namespace

TEST_CASE("a whole launch is repeated once per pass, and times are in seconds")
{
    int launches = 0;
    const CountedRange whole = profiler().count_whole([&] { ++launches; }, "step", range_metrics);
    CHECK(launches == 3);
    CHECK(whole.name == "step");
    CHECK(whole.values == std::vector<double>{10e-9, 10});
}

TEST_CASE("kernels are counted in one launch, each by its number")
{
    int launches = 0;
    const std::vector<CountedRange> kernels = profiler().count_kernels([&] { ++launches; }, range_metrics);
    CHECK(launches == 1);
    REQUIRE(kernels.size() == 2);
    CHECK(kernels[0].name == "0");
    CHECK(kernels[1].name == "1");
    CHECK(kernels[1].values[1] == 10);
}

TEST_CASE("stretches are counted under the names they were pushed with, in one launch per pass")
{
    int launches = 0;
    const auto work = [&](Counting& counting) {
        ++launches;
        for (const char* name : {"a", "b"}) {
            counting.push(name);
            counting.pop();
        }
    };
    const std::vector<CountedRange> found = profiler().count_stretches(work, range_metrics);
    CHECK(launches == 3);
    REQUIRE(found.size() == 2);
    CHECK(found[0].name == "a");
    CHECK(found[1].name == "b");
    CHECK(found[1].values == std::vector<double>{10e-9, 10});
}

TEST_CASE("every call gives the size that the loaded version of CUPTI wants, not that of this build")
{
    for (const std::uint32_t version : made::known_versions) {
        INFO(version);
        const Variable is_other("FAKE_CUPTI_VERSION", std::to_string(version).c_str());
        CHECK(profiler().count_whole([] {}, "step", range_metrics).values == std::vector<double>{10e-9, 10});
        CHECK(profiler().count_kernels([] {}, range_metrics).size() == 2);
    }
}

TEST_CASE("the table of sizes is right for the headers of this build")
{
    const std::vector<std::pair<const char*, std::size_t>> sizes{
        {"Profiler_GetCounterAvailability", CUpti_Profiler_GetCounterAvailability_Params_STRUCT_SIZE},
        {"Profiler_Host_Initialize", CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE},
        {"Profiler_Host_GetMetricProperties", CUpti_Profiler_Host_GetMetricProperties_Params_STRUCT_SIZE},
        {"RangeProfiler_Enable", CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE},
        {"RangeProfiler_Stop", CUpti_RangeProfiler_Stop_Params_STRUCT_SIZE},
        {"RangeProfiler_SetConfig", CUpti_RangeProfiler_SetConfig_Params_STRUCT_SIZE}};
    for (const auto& [name, size] : sizes) {
        INFO(name);
        CHECK(made::struct_size(name, CUPTI_API_VERSION) == size);
    }
}

TEST_CASE("after a failure the profiler can begin again")
{
    const RangeProfiler counting = profiler();
    CHECK_THROWS_WITH(counting.count_whole([] { throw Error("the launch failed"); }, "step", range_metrics),
                      Catch::Contains("the launch failed"));
    CHECK_THROWS_AS(counting.count_kernels([] {}, {}), Error);
    {
        const Variable drops("FAKE_CUPTI_DROPS", "1");
        CHECK_THROWS_WITH(counting.count_kernels([] {}, range_metrics), Catch::Contains("5 kernels or stretches more"));
    }
    CHECK_NOTHROW(counting.count_kernels([] {}, range_metrics));
}

TEST_CASE("a user without rights gets a remedy")
{
    const Variable fails("FAKE_CUPTI_FAILS", "privileges");
    CHECK_THROWS_AS(profiler(), Unsupported);
    CHECK_THROWS_WITH(profiler(), Catch::Contains("CAP_PERFMON"));
}
