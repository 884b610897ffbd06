// The recorder with the fake CUPTI: delivered buffers, broken ends, dropped records, and failing functions.
#include "ert/base/error.hpp"
#include "ert/cupti/injection/settings.hpp"
#include "ert/cupti/recorder.hpp"
#include "ert/recording/record_files.hpp"
#include "fake_functions.hpp"
#include "tests/fakes/temporary_folder.hpp"
#include "variable.hpp"

#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::cupti;
using roof::cupti::made::launch;
using roof::cupti::made::Variable;

namespace {

std::shared_ptr<const Cupti> fake()
{
    return Cupti::open({ROOF_FAKE_CUPTI});
}

std::vector<std::string> kernels_in(const std::filesystem::path& folder)
{
    std::vector<std::string> names;
    read_records<KernelRecord>(
        folder, [&](const std::string& id, const KernelRecord& kernel) { names.push_back(id + " " + kernel.name); });
    return names;
}

}  // namespace

TEST_CASE("CUPTI's records become rows, up to a buffer's broken end, and dropped records are counted")
{
    const fakes::TemporaryFolder folder;
    Recorder recorder(fake());
    recorder.start();
    CHECK(recorder.is_running());
    recorder.stop();
    CHECK(recorder.notes().empty());
    CHECK(recorder.activities() == 3);
    CHECK(recorder.dropped() == 17);
    recorder.write(folder.path(), "row", {.zero = 1000});
    CHECK(kernels_in(folder.path()) == std::vector<std::string>{"row first()", "row second()"});
    CHECK(recorder.activities() == 0);
    std::size_t calls = 0;
    read_records<ApiRecord>(folder.path(), [&](const std::string&, const ApiRecord& call) {
        ++calls;
        CHECK(call.name == "cudaLaunchKernel");
    });
    CHECK(calls == 2);
}

TEST_CASE("complete kernels are delivered on request, before a buffer is full")
{
    Recorder recorder(fake());
    recorder.start();
    recorder.bring_completed();
    CHECK(recorder.activities() == 0);
    launch("_Z5firstv");
    CHECK(recorder.activities() == 0);
    recorder.bring_completed();
    CHECK(recorder.activities() > 0);
    recorder.stop();
}

TEST_CASE("a process has one recorder at a time, and can have another after it")
{
    {
        const Recorder first(fake());
        CHECK_THROWS_WITH(Recorder(fake()), Catch::Contains("already"));
    }
    CHECK_NOTHROW(Recorder(fake()));
}

TEST_CASE("without kernels there is no recording, anything else that cannot be recorded is a note")
{
    {
        const Variable fails("FAKE_CUPTI_FAILS", "cuptiActivityEnable");
        Recorder recorder(fake());
        CHECK_THROWS_WITH(recorder.start(), Catch::Contains("cuptiActivityEnable: FAKE_ERROR: as the test wants it"));
    }
    for (const auto& [function, words] : {std::pair{"memory", "not recorded: allocations"},
                                          std::pair{"cuptiSubscribe", "the layers of kernels in CUDA graphs"}}) {
        const Variable fails("FAKE_CUPTI_FAILS", function);
        Recorder recorder(fake());
        recorder.start();
        REQUIRE(recorder.notes().size() == 1);
        CHECK_THAT(recorder.notes()[0], Catch::Contains(words));
    }
}

TEST_CASE("buffers are reused, and their number is limited")
{
    Buffers buffers(64, 2);
    std::uint8_t* const first = buffers.take();
    std::uint8_t* const second = buffers.take();
    REQUIRE(first != nullptr);
    CHECK(first != second);
    CHECK(reinterpret_cast<std::uintptr_t>(first) % 8 == 0);
    CHECK(buffers.take() == nullptr);
    buffers.give_back(first);
    CHECK(buffers.take() == first);
}

TEST_CASE("by default the first seconds of work are left out and the seconds after them are recorded")
{
    using Action = Window::Action;
    Window window({.after = Seconds{5}, .length = Seconds{10}});
    CHECK(window.next(Seconds{0}, false) == Action::none);
    CHECK(window.next(Seconds{100}, true) == Action::none);
    CHECK(window.next(Seconds{104}, true) == Action::none);
    CHECK(window.has_start());
    CHECK(window.next(Seconds{105}, true) == Action::restart);
    CHECK_FALSE(window.has_start());
    CHECK(window.next(Seconds{106}, false) == Action::none);
    CHECK(window.next(Seconds{115}, false) == Action::finish);
    Window whole({.is_whole = true});
    CHECK(whole.next(Seconds{0}, true) == Action::none);
    CHECK(whole.next(Seconds{1000}, true) == Action::none);
    CHECK(whole.has_start());
}

TEST_CASE("the environment states where and when to record, and a wrong value is an error")
{
    CHECK_THROWS_WITH(settings_from_environment(), Catch::Contains("ROOF_PROFILE_FOLDER"));
    const Variable folder("ROOF_PROFILE_FOLDER", "/some/where");
    CHECK_FALSE(settings_from_environment().window.is_whole);
    {
        const Variable window("ROOF_PROFILE_WINDOW", "1.5 20");
        CHECK(settings_from_environment().window.after == Seconds{1.5});
        CHECK(settings_from_environment().window.length == Seconds{20});
        const Variable range("ROOF_PROFILE_RANGE", "step*");
        CHECK(settings_from_environment().window.is_whole);
        CHECK(settings_from_environment().range == "step*");
    }
    const Variable whole("ROOF_PROFILE_WINDOW", "whole");
    CHECK(settings_from_environment().window.is_whole);
    for (const char* wrong : {"5", "5 x", "-1 5", "five ten"}) {
        const Variable window("ROOF_PROFILE_WINDOW", wrong);
        CHECK_THROWS_WITH(settings_from_environment(), Catch::Contains("ROOF_PROFILE_WINDOW"));
    }
}
