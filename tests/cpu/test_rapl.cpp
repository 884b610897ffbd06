// The CPU's energy counters, in folders as Linux makes them.
#include "cpu/rapl.hpp"
#include "tests/fakes/temporary_folder.hpp"

#include <catch2/catch.hpp>

#include <fstream>

#include <unistd.h>

using namespace roof;
using namespace roof::cpu;

namespace {

constexpr long long range = 262'143'328'850;  // microjoules, as on a Xeon

struct Powercap {
    fakes::TemporaryFolder folder;

    void zone(const std::string& zone, const std::string& name, long long microjoules) const
    {
        std::filesystem::create_directories(folder / zone);
        std::ofstream(folder / zone / "name") << name << '\n';
        std::ofstream(folder / zone / "max_energy_range_uj") << range << '\n';
        count(zone, microjoules);
    }
    void count(const std::string& zone, long long microjoules) const
    {
        std::ofstream(folder / zone / "energy_uj") << microjoules << '\n';
    }
    std::filesystem::path path() const { return folder / ""; }
};

}  // namespace

TEST_CASE(
    "packages and their memory are added up; parts of a package, the whole machine and a second way to it are not")
{
    const Powercap powercap;
    std::filesystem::create_directories(powercap.folder / "intel-rapl");  // the control type, without a counter
    powercap.zone("intel-rapl:0", "package-0", 5'000'000);
    powercap.zone("intel-rapl:0:0", "core", 1'000'000);
    powercap.zone("intel-rapl:0:1", "dram", 2'000'000);
    powercap.zone("intel-rapl:1", "package-1", 9'000'000);
    powercap.zone("intel-rapl:2", "psys", 1'000'000);
    powercap.zone("intel-rapl-mmio:0", "package-0", 5'000'000);
    const PowerMeter meter = rapl_meter(powercap.path());
    CHECK(meter.lacking.empty());
    const double before = meter.read().joules;
    powercap.count("intel-rapl:0", 35'000'000);       // 30 J
    powercap.count("intel-rapl:0:0", 21'000'000);     // within the package
    powercap.count("intel-rapl:0:1", 6'500'000);      // 4.5 J
    powercap.count("intel-rapl:1", 19'000'000);       // 10 J
    powercap.count("intel-rapl:2", 99'000'000);       // the whole machine
    powercap.count("intel-rapl-mmio:0", 35'000'000);  // the same package
    CHECK(meter.read().joules - before == Approx(44.5));
    CHECK(meter.read().instant.value == 0);
    CHECK(meter.read().limit.value == 0);
}

TEST_CASE("a counter that begins at 0 again has gone on to the end of its range")
{
    const Powercap powercap;
    powercap.zone("intel-rapl:0", "package-0", range - 1'000'000);
    const PowerMeter meter = rapl_meter(powercap.path());
    const double before = meter.read().joules;
    powercap.count("intel-rapl:0", 2'000'000);
    CHECK(meter.read().joules - before == Approx(3));
    powercap.count("intel-rapl:0", 1'000'000);  // a whole turn but 1 J
    CHECK(meter.read().joules - before == Approx(3 + 1e-6 * range - 1));
}

TEST_CASE("a machine without counters, and one that shows them to root alone, are told apart")
{
    const Powercap powercap;
    CHECK_THAT(rapl_meter(powercap.folder / "none").lacking, Catch::Contains("virtual machines"));
    powercap.zone("intel-rapl:0", "package-0", 5);
    std::filesystem::remove(powercap.folder / "intel-rapl:0" / "energy_uj");
    const PowerMeter meter = rapl_meter(powercap.path());
    CHECK_FALSE(meter.read);
    CHECK_THAT(meter.lacking, Catch::Contains("energy_uj cannot be read"));
}

TEST_CASE("a counter that vanishes later leaves the joules unknown, not zero")
{
    const Powercap powercap;
    powercap.zone("intel-rapl:0", "package-0", 5'000'000);
    const PowerMeter meter = rapl_meter(powercap.path());
    CHECK(meter.read().joules == 5);
    std::filesystem::remove(powercap.folder / "intel-rapl:0" / "energy_uj");
    CHECK(meter.read().joules == 0);
}
