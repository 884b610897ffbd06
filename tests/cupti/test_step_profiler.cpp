// Our own launches under the profiler, on a CUPTI of the tests' own making: what it records becomes rows, and where nothing can be
// counted it says so and goes on.
#include "ert/cupti/step_profiler.hpp"
#include "ert/recording/record_files.hpp"
#include "tests/fakes/temporary_folder.hpp"

#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::cupti;

TEST_CASE("a traced launch is a step of the recording, with its kernels")
{
    const fakes::TemporaryFolder folder;
    Device device;
    device.name = "gpu:0";
    Part part;
    part.layer = "conv1";
    const Profile profile = profile_with(Cupti::open({ROOF_FAKE_CUPTI}), built_in_counter_table(), device, {part});
    int launches = 0;
    profile.trace([&] {
        profile.listener.enter(0);
        ++launches;
        profile.listener.leave();
    });
    const std::vector<std::string> remarks = profile.count([&] { ++launches; });
    REQUIRE(remarks.size() == 3);
    CHECK_THAT(remarks[0], Catch::Contains("17 records were dropped"));
    CHECK_THAT(remarks[1], Catch::Contains("no hardware counters"));
    CHECK_THAT(remarks[2], Catch::Contains("GPM"));
    profile.write(folder.path(), "row");
    std::size_t kernels = 0;
    read_records<KernelRecord>(folder.path(), [&](const std::string&, const KernelRecord&) { ++kernels; });
    CHECK(kernels == 2);
    std::vector<std::string> steps;
    read_records<RangeRecord>(folder.path(), [&](const std::string&, const RangeRecord& range) {
        if (range.kind == RangeKind::step) steps.push_back(range.name);
    });
    CHECK(steps.size() == 2);
}

TEST_CASE("a second subject can be profiled after the first")
{
    Device device;
    device.name = "gpu:0";
    const auto cupti = Cupti::open({ROOF_FAKE_CUPTI});
    profile_with(cupti, built_in_counter_table(), device, {});
    CHECK_NOTHROW(profile_with(cupti, built_in_counter_table(), device, {}));
}
