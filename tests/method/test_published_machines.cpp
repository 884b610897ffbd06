// Published calibrations of further machines. What is possible there stands in the vendors' guides and data sheets:
// AMD's Software Optimization Guide for Zen 5 (two 512-bit FMAs a clock), Intel's Optimization Reference Manual (two
// with AVX-512, 1024 multiply-adds of bf16 a clock with AMX), NVIDIA's data sheets of H100 and H200 SXM (dense rates).
#include "ert/method/ceilings/ceiling.hpp"
#include "ert/method/results/results.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <optional>
#include <set>
#include <tuple>

using namespace roof;

namespace {

Ceiling published_roof(const Ceilings& ceilings, Role kind, const std::string& name, int threads)
{
    const std::optional<Ceiling> roof = ceilings.roof(kind, "cpu", name, threads);
    REQUIRE(roof);
    return *roof;
}

Ceilings published(const std::string& folder)
{
    const Results results = read_results(std::filesystem::path(ROOF_TEST_DATA) / "../../results/examples" / folder);
    return fit_ceilings(results.rows, results.machine);
}

/// A roof has the instruction set of the guide, reaches so much of its FLOPs a clock, and no more; no other loop of the
/// file is faster. `hertz`: of the cores beside these rows, within 4%.
void check_roof(const Ceilings& all, double hertz, const std::string& precision, int threads, const std::string& isa,
                double per_clock, double least)
{
    CAPTURE(precision, threads);
    const Ceiling roof = published_roof(all, Role::compute, precision, threads);
    CHECK(roof.isa == isa);
    CHECK(is_multiply_add(roof.operation));
    for (const Ceiling& other : all.all)
        if (other.precision == precision && other.threads <= threads && other.condition.empty() &&
            is_multiply_add(other.operation))
            CHECK(roof.rate.median >= other.rate.low);
    const double reached = roof.rate.median.value / (threads * hertz);
    CHECK(reached <= 1.04 * per_clock);
    CHECK(reached >= least * per_clock);
}

/// Memory is shown by sets that the reported last cache cannot hold, and is slower than that cache.
void check_memory(const Ceilings& all, double last_cache)
{
    for (const Ceiling& ceiling : all.all) {
        if (ceiling.kind != Role::bandwidth || ceiling.level != "DRAM" || !(ceiling.working_set.value > 0)) continue;
        CAPTURE(ceiling.operation, ceiling.threads, ceiling.rate.median.value);
        CHECK(ceiling.working_set.value > last_cache);
        const std::optional<Ceiling> cache = all.roof(Role::bandwidth, ceiling.device, "L3", ceiling.threads);
        if (ceiling.operation == "load" && cache) CHECK(ceiling.rate.median < cache->rate.median);
    }
}

}  // namespace

TEST_CASE("the Zen 5's roofs are those of AVX-512, and its L3 is not called memory")
{
    const Ceilings zen5 = published("amd-epyc-family26-2cpu/2026-11-22T063430Z-e998eee9d186");
    for (const int threads : {1, 2}) {
        check_roof(zen5, 3.84e9, "fp32", threads, "avx512", 64, 0.95);
        check_roof(zen5, 3.84e9, "fp64", threads, "avx512", 32, 0.95);
        check_roof(zen5, 3.84e9, "bf16", threads, "avx512", 128, 0.95);
        check_roof(zen5, 3.84e9, "int8", threads, "avx512", 256, 0.95);
        CHECK(published_roof(zen5, Role::bandwidth, "DRAM", threads).rate.median.value < 100e9);
    }
    check_memory(zen5, 32 * 1024 * 1024);
}

TEST_CASE("the roofs of a Xeon with 16 cores are those of AVX-512 and AMX, and its L3 is not called memory")
{
    const Ceilings xeon16 = published("intel-xeon-family6-16cpu/2026-11-23T004126Z-ff9c1ca821e9");
    for (const int threads : {1, 16}) {
        check_roof(xeon16, 2.69e9, "fp32", threads, "avx512", 64, 0.75);
        check_roof(xeon16, 2.69e9, "fp64", threads, "avx512", 32, 0.75);
        check_roof(xeon16, 2.69e9, "fp16", threads, "avx512", 128, 0.75);
        check_roof(xeon16, 2.69e9, "bf16", threads, "amx", 2048, 0.2);
        check_roof(xeon16, 2.69e9, "int8", threads, "amx", 4096, 0.2);
    }
    check_memory(xeon16, 300 * 1024 * 1024);
}

TEST_CASE("a quick calibration whose largest set a Xeon's reported L3 of 480 MiB holds has no memory")
{
    const Ceilings quick = published("intel-xeon-processor-family6-2cpu/2026-11-24T093310Z-1334ddf78021");
    for (const int threads : {1, 2}) {
        check_roof(quick, 4.19e9, "fp32", threads, "avx512", 64, 0.85);
        check_roof(quick, 4.19e9, "fp64", threads, "avx512", 32, 0.85);
        CHECK(quick.bandwidth("cpu", "DRAM", threads) == nullptr);
    }
}

TEST_CASE("the roofs of an H100 and an H200 are those of their tensor cores, within their data sheets")
{
    for (const auto& [folder, memory] : {std::pair{"nvidia-h100-80gb-hbm3/2026-11-23T070018Z-c53771ba9338", 3.35e12},
                                         {"nvidia-h200/2026-11-27T181558Z-dcfd76afa88d", 4.8e12},
                                         {"nvidia-h200/2026-11-27T184807Z-c6fc8c572f3c", 4.8e12}}) {
        const Ceilings gpu = published(folder);
        for (const auto& [precision, isa, flops] : {std::tuple{"fp64", "mma", 67e12},
                                                    {"fp32", "cuda", 67e12},
                                                    {"tf32", "wgmma", 494.7e12},
                                                    {"bf16", "wgmma", 989.4e12},
                                                    {"fp16", "wgmma", 989.4e12},
                                                    {"fp8", "wgmma", 1978.9e12},
                                                    {"int8", "wgmma", 1978.9e12}}) {
            CAPTURE(folder, precision);
            const std::optional<Ceiling> roof = gpu.roof(Role::compute, "gpu:0", precision, 1);
            const bool is_quick = gpu.compute("gpu:0", "int8", 1) == nullptr;
            if (is_quick && (!roof || std::string(precision) == "fp64")) continue;
            REQUIRE(roof);
            CHECK(roof->isa == isa);
            CHECK(roof->rate.median.value <= flops);
            CHECK(roof->rate.median.value >= 0.85 * flops);
        }
        const std::optional<Ceiling> roof = gpu.roof(Role::bandwidth, "gpu:0", "DRAM", 1);
        REQUIRE(roof);
        CHECK(roof->rate.median.value <= memory);
        CHECK(roof->rate.median.value >= 0.85 * memory);
        for (const Ceiling& ceiling : gpu.all)
            if (ceiling.level == "DRAM" && ceiling.kind == Role::bandwidth && ceiling.operation == "load")
                CHECK(ceiling.working_set.value > 50 * 1024 * 1024);
        std::set<std::string> levels;
        for (const MeasuredLevel& level : gpu.levels) levels.insert(level.name);
        levels.erase("L2");  // which a quick calibration, whose loads all go through the L1, does not see
        CHECK(levels == std::set<std::string>{"L1", "DRAM"});
    }
}
