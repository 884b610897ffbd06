// The event tables, checked against libpfm4 for each processor; and counting, with events that every kernel has.
#include "cpu/counters/encode.hpp"
#include "cpu/counters/event_tables.hpp"
#include "cpu/counters/step_counters.hpp"
#include "ert/base/error.hpp"
#include "tests/skip.hpp"

#include <linux/perf_event.h>
#include <sys/mman.h>
#include <catch2/catch.hpp>

#include <array>
#include <cstdlib>
#include <set>

using namespace roof;
using namespace roof::cpu;

namespace {

constexpr std::size_t page = 4096, pages = 256;

constexpr std::array page_faults{EventCode{PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 0}};

/// Each page of new memory faults once, because small pages are requested.
void touch_fresh_pages()
{
    void* const memory = ::mmap(nullptr, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(memory != MAP_FAILED);
    ::madvise(memory, pages * page, MADV_NOHUGEPAGE);
    auto* const bytes = static_cast<volatile char*>(memory);
    for (std::size_t i = 0; i < pages; ++i) bytes[i * page] = 1;
    ::munmap(memory, pages * page);
}

/// Whether this kernel lets a process count. Some containers do not.
bool may_count()
{
    try {
        const ProcessCounters counters(page_faults);
        return true;
    } catch (const Unsupported&) {
        return false;
    }
}

}  // namespace

TEST_CASE("libpfm4 knows every event of every table")
{
    if (!missing_encoder().empty()) return skip(missing_encoder());
    CHECK(std::getenv("LIBPFM_ENCODE_INACTIVE") == nullptr);  // programs that roof starts would inherit it
    for (const EventTable& table : event_tables())
        for (const CountedEvent& event : table.events) {
            const std::string name = std::string(table.pmu) + "::" + std::string(event.event);
            INFO(name);
            CHECK_NOTHROW(encode(name));
        }
    CHECK_THROWS_AS(encode("skx::NO_SUCH_EVENT"), Unsupported);
}

TEST_CASE("every table has FLOPs and lines into L1, and no event twice")
{
    for (const EventTable& table : event_tables()) {
        INFO(table.microarchitecture);
        std::set<std::string_view> names;
        std::set<Counts> counted;
        for (const CountedEvent& event : table.events) {
            CHECK(names.insert(event.event).second);
            counted.insert(event.counts);
        }
        CHECK((counted.contains(Counts::any) || (counted.contains(Counts::fp32) && counted.contains(Counts::fp64))));
        CHECK(counted.contains(Counts::into_l1));
        CHECK(counted.contains(Counts::from_memory));
    }
}

TEST_CASE("a vector of single precision counts twice the FLOPs of one of double precision")
{
    const auto each = [](std::string_view event) {
        for (const CountedEvent& candidate : event_table("GenuineIntel", 6, 106)->events)
            if (candidate.event == event) return candidate.each;
        return 0.0;
    };
    for (const std::string width : {"128B", "256B", "512B"})
        CHECK(each("FP_ARITH_INST_RETIRED:" + width + "_PACKED_SINGLE") ==
              2 * each("FP_ARITH_INST_RETIRED:" + width + "_PACKED_DOUBLE"));
    CHECK(each("FP_ARITH_INST_RETIRED:512B_PACKED_SINGLE") == 16);
}

TEST_CASE("a processor has the table of its microarchitecture, or none")
{
    const auto pmu = [](const char* vendor, int family, int model) {
        const EventTable* const table = event_table(vendor, family, model);
        return table == nullptr ? std::string_view{} : table->pmu;
    };
    CHECK(pmu("GenuineIntel", 6, 85) == "skx");
    CHECK(pmu("GenuineIntel", 6, 106) == "icx");
    CHECK(pmu("GenuineIntel", 6, 143) == "spr");
    CHECK(pmu("GenuineIntel", 6, 60).empty());
    CHECK(pmu("AuthenticAMD", 0x17, 0x31) == "amd64_fam17h_zen2");
    CHECK(pmu("AuthenticAMD", 0x17, 0x01).empty());
    CHECK(pmu("AuthenticAMD", 0x19, 0x01) == "amd64_fam19h_zen3");
    CHECK(pmu("AuthenticAMD", 0x19, 0x11) == "amd64_fam19h_zen4");
    CHECK(pmu("AuthenticAMD", 0x1A, 0x02).empty());
    CHECK(pmu("Somebody", 6, 85).empty());
}

TEST_CASE("only the events between start and stop are counted")
{
    if (!may_count()) return skip("this system forbids counting");
    ProcessCounters counters(page_faults);
    touch_fresh_pages();
    counters.start();
    touch_fresh_pages();
    counters.stop();
    const double first = counters.counts().at(0).value;
    CHECK(first >= pages);
    CHECK(first < 2 * pages);
    touch_fresh_pages();
    CHECK(counters.counts().at(0).value == first);
    CHECK(counters.counts().at(0).share_of_time == Approx(1));
    counters.start();
    counters.stop();
    CHECK(counters.counts().at(0).value < pages);
}

TEST_CASE("an event that the kernel lacks is unsupported, with the reason")
{
    constexpr std::array none{EventCode{0x7FFFFFFF, 0, 0}};
    CHECK_THROWS_WITH(ProcessCounters(none), Catch::Contains("perf_event_open: "));
}

TEST_CASE("with children, what a program that was started later does is counted too")
{
    if (!may_count()) return skip("this system forbids counting");
    const auto faults_of = [](bool children) {
        ProcessCounters counters(page_faults, children);
        counters.start();
        REQUIRE(std::system("true") == 0);
        counters.stop();
        return counters.counts().at(0).value;
    };
    CHECK(faults_of(true) > faults_of(false) + 20);
}
