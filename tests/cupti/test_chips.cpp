// Checks the table of metrics against CUPTI's own lists for every chip. CUPTI needs no GPU for that. If CUPTI is not
// installed, the tests are skipped.
#include "ert/base/error.hpp"
#include "ert/counters/counter_table.hpp"
#include "ert/cupti/chips.hpp"
#include "ert/cupti/parameters.hpp"
#include "ert/cupti/records.hpp"
#include "ert/gpu/library.hpp"
#include "tests/skip.hpp"

#include <cupti_version.h>
#include <catch2/catch.hpp>

#include <algorithm>

using namespace roof;
using namespace roof::cupti;

namespace {

/// Null where the test is skipped.
std::shared_ptr<const Cupti> cupti_or_skip()
{
    try {
        return Cupti::open();
    } catch (const Unsupported& error) {
        skip(error.what());
        return nullptr;
    }
}

/// All chips that this CUPTI knows, by the driver's names: "GH100".
std::vector<std::string> known_chips(const Cupti& cupti)
{
    auto asked = parameters<CUpti_Profiler_Host_GetSupportedChips_Params>(
        CUpti_Profiler_Host_GetSupportedChips_Params_STRUCT_SIZE);
    cupti.call<decltype(cuptiProfilerHostGetSupportedChips)>("cuptiProfilerHostGetSupportedChips", &asked);
    return {asked.ppChipNames, asked.ppChipNames + asked.numChips};
}

std::vector<std::string> names(const std::vector<CounterMetric>& metrics)
{
    std::vector<std::string> made;
    for (const CounterMetric& metric : metrics) made.push_back(metric.metric);
    return made;
}

/// Launches that counting these metrics takes on that chip.
int passes(const std::shared_ptr<const Cupti>& cupti, const std::string& chip, const std::vector<std::string>& metrics)
{
    Image configuration = Chip(cupti, chip).configuration(metrics);
    auto asked =
        parameters<CUpti_Profiler_Host_GetNumOfPasses_Params>(CUpti_Profiler_Host_GetNumOfPasses_Params_STRUCT_SIZE);
    asked.configImageSize = configuration.size();
    asked.pConfigImage = configuration.data();
    cupti->call<decltype(cuptiProfilerHostGetNumOfPasses)>("cuptiProfilerHostGetNumOfPasses", &asked);
    return static_cast<int>(asked.numOfPasses);
}

}  // namespace

TEST_CASE("CUPTI knows every metric of the table on that chip, and its unit is a base unit")
{
    const auto cupti = cupti_or_skip();
    if (!cupti) return skip("CUPTI is needed");
    const CounterTable& table = built_in_counter_table();
    const std::vector<std::string> known = known_chips(*cupti);
    for (const ChipFamily& family : table.families) {
        for (const std::string& chip : family.chips) {
            INFO(chip);
            REQUIRE(std::find(known.begin(), known.end(), chip) != known.end());
            const Chip host(cupti, chip);
            for (const CounterMetric& metric : table.metrics_of(family, "all")) {
                INFO(metric.metric);
                const std::string unit = host.unit(metric.metric);
                CHECK(unit == (metric.quantity == "time"                              ? "s"
                               : metric.metric.find("_sectors_") != std::string::npos ? "sector"
                               : metric.quantity.starts_with("bytes")                 ? "byte"
                               : metric.quantity.starts_with("tensor")                ? "op"
                                                                                      : "inst"));
            }
        }
    }
}

TEST_CASE("counting a set takes as many passes as the table says")
{
    const auto cupti = cupti_or_skip();
    if (!cupti) return skip("CUPTI is needed");
    const CounterTable& table = built_in_counter_table();
    if (static_cast<int>(cupti->version()) != table.cupti)
        return skip("the table's passes are those of CUPTI " + std::to_string(table.cupti) + ", here is " +
                    std::to_string(cupti->version()));
    for (const ChipFamily& family : table.families) {
        for (const auto& [set, expected] : family.passes) {
            INFO(family.name << " " << set);
            CHECK(passes(cupti, family.chips.front(), names(table.metrics_of(family, set))) == expected);
        }
    }
}

TEST_CASE("every chip that CUPTI can count on is in the table")
{
    const auto cupti = cupti_or_skip();
    if (!cupti) return skip("CUPTI is needed");
    const CounterTable& table = built_in_counter_table();
    for (const std::string& chip : known_chips(*cupti)) {
        INFO(chip);
        if (table.family_of_chip(chip) == nullptr) CHECK_THROWS_AS(Chip(cupti, chip), Unsupported);
    }
}

TEST_CASE("a misspelt metric, or one of another chip, is an error that names it")
{
    const auto cupti = cupti_or_skip();
    if (!cupti) return skip("CUPTI is needed");
    Chip hopper(cupti, "GH100");
    CHECK(hopper.unit("lts__t_bytes.sum") == "byte");
    CHECK_THROWS_AS(hopper.unit("lts__t_bytes.some"), Error);
    CHECK_THROWS_AS(hopper.unit("lts__t_byte.sum"), Error);
    CHECK_THROWS_AS(hopper.unit("sm__ops_path_tensor_src_fp16_dst_fp32.sum"), Error);
    CHECK_THROWS_WITH(hopper.configuration({"lts__t_byte.sum"}), Catch::Contains("lts__t_byte.sum"));
    CHECK_THROWS_AS(Chip(cupti, "GX999"), Unsupported);
}

TEST_CASE("functions of the runtime and the driver have their plain names")
{
    CHECK(plain_api_name("cudaLaunchKernel_v7000") == "cudaLaunchKernel");
    CHECK(plain_api_name("cudaMemcpyAsync_ptsz_v7000") == "cudaMemcpyAsync");
    CHECK(plain_api_name("cuMemAlloc_v2") == "cuMemAlloc");
    CHECK(plain_api_name("cuMemcpyHtoDAsync_v2_ptsz") == "cuMemcpyHtoDAsync");
    CHECK(plain_api_name("cuInit") == "cuInit");
    const auto cupti = cupti_or_skip();
    if (!cupti) return skip("CUPTI is needed");
    CHECK(api_name(*cupti, ApiDomain::runtime, 211) == "cudaLaunchKernel");
    CHECK(api_name(*cupti, ApiDomain::driver, 1) == "cuInit");
    CHECK(api_name(*cupti, ApiDomain::driver, 999'999) == "function 999999");
}

TEST_CASE("a missing CUPTI is reported with a remedy")
{
    CHECK_THROWS_WITH(Cupti::open({"libno-such-cupti.so"}), Catch::Contains("ROOF_CUPTI"));
}

TEST_CASE("a CUPTI that does not answer with this driver is passed over, and is the reason if there is no other")
{
    CHECK_THROWS_WITH(Cupti::open({ROOF_FAKE_OLD_DRIVER}),
                      Catch::Contains("fake_old_driver") && Catch::Contains("does not tell its version"));
    CHECK(Cupti::open({"libno-such-cupti.so", ROOF_FAKE_OLD_DRIVER, ROOF_FAKE_CUPTI})->version() == CUPTI_API_VERSION);
}

TEST_CASE("a CUPTI that needs a driver even to tell its version is not asked without one")
{
    if (gpu::Library::open(std::vector<std::string>{"libcuda.so.1"})) return skip("there is a driver here");
    CHECK_THROWS_WITH(Cupti::open({ROOF_FAKE_WITHOUT_DRIVER}),
                      Catch::Contains("fake_without_driver") && Catch::Contains("needs an NVIDIA driver"));
    CHECK(Cupti::open({ROOF_FAKE_WITHOUT_DRIVER, ROOF_FAKE_CUPTI})->version() == CUPTI_API_VERSION);
}

TEST_CASE("missing rights for hardware counters make them unsupported, with a remedy, other failures are errors")
{
    const auto cupti = cupti_or_skip();
    if (!cupti) return skip("CUPTI is needed");
    CHECK_NOTHROW(cupti->check(CUPTI_SUCCESS, "call"));
    CHECK_THROWS_AS(cupti->check(CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, "call"), Unsupported);
    CHECK_THROWS_AS(cupti->check(CUPTI_ERROR_HARDWARE_BUSY, "call"), Unsupported);
    CHECK_THROWS_WITH(cupti->check(CUPTI_ERROR_HARDWARE_BUSY, "call"), Catch::Contains("dcgmi profile --pause"));
    CHECK_THROWS_WITH(cupti->check(CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, "call"),
                      Catch::Contains("NVreg_RestrictProfilingToAdminUsers"));
    CHECK_THROWS_WITH(cupti->check(CUPTI_ERROR_INVALID_PARAMETER, "cuptiThis"),
                      Catch::Contains("cuptiThis: CUPTI_ERROR_INVALID_PARAMETER"));
}
