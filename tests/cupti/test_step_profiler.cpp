// Profiling our own launches with the fake CUPTI: rows of the recording, and notes where nothing can be counted.
#include "ert/cupti/step_profiler.hpp"
#include "ert/recording/record_files.hpp"
#include "tests/counters/quantities.hpp"
#include "tests/fakes/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <map>

using namespace roof;
using namespace roof::cupti;

TEST_CASE("a traced launch is a step of the recording, with its kernels")
{
    const fakes::TemporaryFolder folder;
    Device device;
    device.name = "gpu:0";
    TimedPart part;
    part.layer = "conv1";
    const Profile profile = profile_with(Cupti::open({ROOF_FAKE_CUPTI}), built_in_counter_table(), device, {part});
    int launches = 0;
    profile.trace([&] {
        profile.listener.enter(0);
        ++launches;
        profile.listener.leave();
    });
    CHECK(launches == 1);
    const std::vector<std::string> remarks = profile.count([&] { ++launches; });
    REQUIRE(remarks.size() == 2);
    CHECK_THAT(remarks[0], Catch::Contains("17 records were dropped"));
    CHECK_THAT(remarks[1], Catch::Contains("no hardware counters"));
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

TEST_CASE("counts become rows of the step and of each kernel, named by its order in the traced step")
{
    const fakes::TemporaryFolder folder;
    Device device;
    device.name = "gpu:0";
    const Profile profile =
        profile_with(Cupti::open({ROOF_FAKE_CUPTI}), built_in_counter_table(), device, {}, [] { return CUcontext{}; });
    profile.trace([] {});
    int launches = 0;
    profile.count([&] { ++launches; });
    CHECK(launches == 3);
    const std::vector<std::string> remarks = profile.count_kernels([&] { ++launches; });
    CHECK(launches == 3 + 1);
    REQUIRE(remarks.size() == 1);
    CHECK_THAT(remarks[0], Catch::Contains("by their order in a traced step"));
    profile.write(folder.path(), "row");
    std::map<std::string, double> of_step;
    std::map<std::string, std::size_t> of_kernels;
    read_records<CounterRecord>(folder.path(), [&](const std::string&, const CounterRecord& counter) {
        if (counter.scope == CounterScope::step) of_step[counter.metric] = counter.value;
        if (counter.scope == CounterScope::kernel) ++of_kernels[counter.name];
    });
    const std::size_t metrics =
        built_in_counter_table().metrics_of(*family_of(built_in_counter_table(), 90), "all").size();
    CHECK(of_step.size() == metrics);
    CHECK(of_step.at("lts__t_bytes.sum") == 10);
    CHECK(of_step.at("gpu__time_duration.sum") == Approx(10e-9));
    CHECK(of_kernels == std::map<std::string, std::size_t>{{"first()", metrics}, {"second()", metrics}});
}

TEST_CASE("phases are counted as stretches of the launch and summed by name, a graph has none")
{
    const fakes::TemporaryFolder folder;
    Device device;
    device.name = "gpu:0";
    TimedPart forward, backward;
    forward.phase = Phase::forward;
    backward.phase = Phase::backward;
    const Profile profile = profile_with(Cupti::open({ROOF_FAKE_CUPTI}), built_in_counter_table(), device,
                                         {forward, backward}, [] { return CUcontext{}; });
    const auto step = [&] {
        for (const std::size_t part : {0, 0, 1, 0}) {
            profile.listener.enter(part);
            profile.listener.leave();
        }
    };
    profile.trace(step);
    profile.count(step);
    profile.write(folder.path(), "row");
    profile.trace([] {});
    profile.count([] {});
    profile.write(folder.path(), "graph");
    std::map<std::string, double> bytes;
    read_records<CounterRecord>(folder.path(), [&](const std::string& id, const CounterRecord& counter) {
        if (counter.scope == CounterScope::phase && counter.metric == "lts__t_bytes.sum")
            bytes[id + ' ' + counter.phase] += counter.value;
    });
    CHECK(bytes == std::map<std::string, double>{{"row backward", 10}, {"row forward", 20}});
}

TEST_CASE("counters of phases that only some launches have are left out, with a remark")
{
    const fakes::TemporaryFolder folder;
    Device device;
    device.name = "gpu:0";
    TimedPart forward, backward;
    forward.phase = Phase::forward;
    backward.phase = Phase::backward;
    const Profile profile = profile_with(Cupti::open({ROOF_FAKE_CUPTI}), built_in_counter_table(), device,
                                         {forward, backward}, [] { return CUcontext{}; });
    int launches = 0;
    const auto step = [&] {
        ++launches;
        for (std::size_t part = 0; part < (launches == 6 ? 2U : 1U); ++part) {
            profile.listener.enter(part);
            profile.listener.leave();
        }
    };
    profile.trace(step);
    const std::vector<std::string> remarks = profile.count(step);
    CHECK(launches >= 6);
    CHECK_THAT(remarks.at(1), Catch::Contains("CUPTI gave no value for ") && Catch::Contains(" counters"));
    profile.write(folder.path(), "row");
    std::map<std::string, std::size_t> phases;
    read_records<CounterRecord>(folder.path(), [&](const std::string&, const CounterRecord& counter) {
        if (counter.scope == CounterScope::phase) ++phases[counter.phase];
    });
    CHECK(phases.size() == 1);
    CHECK(phases["forward"] > 0);
}

TEST_CASE("a launch that changes its phase too often is counted without its phases")
{
    const fakes::TemporaryFolder folder;
    Device device;
    device.name = "gpu:0";
    TimedPart forward, backward;
    forward.phase = Phase::forward;
    backward.phase = Phase::backward;
    const Profile profile = profile_with(Cupti::open({ROOF_FAKE_CUPTI}), built_in_counter_table(), device,
                                         {forward, backward}, [] { return CUcontext{}; });
    const auto step = [&] {
        for (std::size_t i = 0; i < 300; ++i) {
            profile.listener.enter(i % 2);
            profile.listener.leave();
        }
    };
    profile.trace(step);
    const std::vector<std::string> remarks = profile.count(step);
    CHECK_THAT(remarks.at(1), Catch::Contains("phases were not counted as a whole: 44 "));
    profile.write(folder.path(), "row");
    std::map<CounterScope, std::size_t> scopes;
    read_records<CounterRecord>(folder.path(),
                                [&](const std::string&, const CounterRecord& counter) { ++scopes[counter.scope]; });
    CHECK(scopes.size() == 1);
    CHECK(scopes[CounterScope::step] > 0);
}

TEST_CASE("a second subject can be profiled after the first")
{
    Device device;
    device.name = "gpu:0";
    const auto cupti = Cupti::open({ROOF_FAKE_CUPTI});
    profile_with(cupti, built_in_counter_table(), device, {});
    CHECK_NOTHROW(profile_with(cupti, built_in_counter_table(), device, {}));
}
