// Counts of a step and of its parts, with an event that every kernel has: the first touch of a page.
#include "cpu/counters/step_counters.hpp"
#include "ert/base/error.hpp"
#include "ert/recording/record_files.hpp"
#include "tests/fakes/temporary_folder.hpp"
#include "tests/skip.hpp"

#include <linux/perf_event.h>
#include <sys/mman.h>
#include <catch2/catch.hpp>

#include <map>

using namespace roof;
using namespace roof::cpu;

namespace {

constexpr std::size_t page = 4096;

void touch_fresh_pages(std::size_t pages)
{
    void* const memory = ::mmap(nullptr, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(memory != MAP_FAILED);
    ::madvise(memory, pages * page, MADV_NOHUGEPAGE);
    auto* const bytes = static_cast<volatile char*>(memory);
    for (std::size_t i = 0; i < pages; ++i) bytes[i * page] = 1;
    ::munmap(memory, pages * page);
}

/// Two parts, of 100 and of 1000 pages.
void launch(const Profile& profile)
{
    for (const std::size_t part : {0U, 1U}) {
        profile.listener.enter(part);
        touch_fresh_pages(part == 0 ? 100 : 1000);
        profile.listener.leave();
    }
}

std::vector<TimedPart> two_parts()
{
    return {{"first", "relu", Phase::forward, {}, {}}, {"second", "relu", Phase::backward, {}, {}}};
}

}  // namespace

TEST_CASE("events are counted for the step and for each part, only in traced launches")
{
    const NamedEvent faults{"page-faults", {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 0}, Counts::into_l1, 1};
    std::optional<Profile> profile;
    try {
        profile = count_events({faults}, two_parts());
    } catch (const Unsupported&) {
        return skip("this system forbids counting");
    }
    for (int i = 0; i < 2; ++i) {
        launch(*profile);
        profile->trace([&] { launch(*profile); });
    }
    CHECK(profile->count([] {}).empty());
    const fakes::TemporaryFolder folder;
    profile->write(folder.path(), "row");
    std::map<std::string, double> counted;
    read_records<CounterRecord>(folder.path(), [&](const std::string&, const CounterRecord& record) {
        counted[std::string(name(record.scope)) + " " + record.layer + " " + record.metric] = record.value;
        CHECK(record.unit == (record.metric == "page-faults" ? "event" : "byte"));
    });
    CHECK(counted.at("phase first page-faults") >= 100);
    CHECK(counted.at("phase first page-faults") < 200);
    CHECK(counted.at("phase second page-faults") >= 1000);
    CHECK(counted.at("phase second page-faults") < 1200);
    CHECK(counted.at("step  page-faults") >= 1100);
    CHECK(counted.at("step  page-faults") < 1500);
    CHECK(counted.at("step  lines into L1") == Approx(64 * counted.at("step  page-faults")));
}

TEST_CASE("a processor without a table is unsupported, with its family and model")
{
    Machine machine;
    machine.vendor = "Somebody";
    machine.family = 7;
    CHECK_THROWS_WITH(step_counters(machine).attach({}, {}), Catch::Contains("family 7, model 0 of Somebody"));
    CHECK(step_counters(machine).device_kind == "cpu");
}
