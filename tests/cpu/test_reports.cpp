// Inconsistencies of other machines, from invented reports.
#include "cpu/topology.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cerrno>

using namespace roof;
using namespace roof::cpu;
using Catch::Matchers::Contains;

namespace {

Reports consistent()
{
    Reports reports;
    reports.caches = {{"L1", Bytes{48 << 10}, 8, 1}, {"L3", Bytes{32 << 20}, 1, 8}};
    reports.cpuid = {{"0x4", 1, Bytes{48 << 10}}, {"0x4", 3, Bytes{32 << 20}}};
    reports.machine_threads = 8;
    reports.allowed_threads = 8;
    return reports;
}

std::string only_inconsistency(const Reports& reports)
{
    const std::vector<std::string> inconsistencies = find_inconsistencies(reports);
    REQUIRE(inconsistencies.size() == 1);
    return inconsistencies.front();
}

}  // namespace

TEST_CASE("reports that agree give no inconsistency")
{
    CHECK(find_inconsistencies(consistent()).empty());
}

TEST_CASE("a virtual machine's reports are called unreliable")
{
    Reports reports = consistent();
    reports.hypervisor = "KVM";
    CHECK_THAT(only_inconsistency(reports), Contains("KVM") && Contains("host"));
}

TEST_CASE("two different sizes of one cache are both reported")
{
    Reports reports = consistent();
    reports.cpuid.push_back({"0x80000006", 3, Bytes{384 << 20}});
    CHECK_THAT(only_inconsistency(reports), Contains("L3") && Contains("32 MiB") && Contains("384 MiB"));
}

TEST_CASE("a cache that only CPUID reports is named")
{
    Reports reports = consistent();
    reports.cpuid.push_back({"0x4", 2, Bytes{1 << 20}});
    CHECK_THAT(only_inconsistency(reports), Contains("L2") && Contains("1 MiB"));
}

TEST_CASE("a cache of size 0 is reported")
{
    Reports reports = consistent();
    reports.caches.push_back({"L4", Bytes{}, 1, 8});
    CHECK_THAT(only_inconsistency(reports), Contains("L4") && Contains("0"));
}

TEST_CASE("an affinity mask smaller than the machine is reported")
{
    Reports reports = consistent();
    reports.allowed_threads = 3;
    CHECK_THAT(only_inconsistency(reports), Contains("3 of 8"));
}

TEST_CASE("a quota below the number of threads is reported, and one above is not")
{
    Reports reports = consistent();
    reports.quota = 8;
    CHECK(find_inconsistencies(reports).empty());
    reports.quota = 2.5;
    CHECK_THAT(only_inconsistency(reports), Contains("2.5"));
}

TEST_CASE("denied hardware counters have one remedy, and missing ones another")
{
    CHECK(hardware_counters(0, false).present);
    const Capability denied = hardware_counters(EACCES, false);
    CHECK_FALSE(denied.present);
    CHECK_THAT(denied.remedy, Contains("perf_event_paranoid"));
    const Capability missing = hardware_counters(ENOENT, true);
    CHECK_THAT(missing.reason, Contains("virtual machine"));
    CHECK_THAT(missing.remedy, Contains("PMU"));
}
