// The guides' figures, compared with numbers calculated by hand from the guides.
#include "cpu/theory.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace roof;
using namespace roof::cpu;

namespace {

Machine machine_of(const std::string& vendor, int family, int model)
{
    Machine machine;
    machine.vendor = vendor;
    machine.family = family;
    machine.model = model;
    machine.isa = {"scalar", "sse", "avx2", "avx512"};
    machine.features = {"fma", "avx512_vnni", "avx512_bf16"};
    return machine;
}

const Machine zen4 = machine_of("AuthenticAMD", 25, 0x11);
const Machine zen5 = machine_of("AuthenticAMD", 26, 0x02);
const Machine ice_lake = machine_of("GenuineIntel", 6, 106);

/// Returns 0 if there is no spec.
double spec_of(const Machine& machine, const std::string& level, const std::string& operation,
               const std::string& isa = "", const std::string& precision = "")
{
    for (const SpecRate& spec : spec_rates_of(machine)) {
        if (spec.level == level && spec.operation == operation && spec.isa == isa && spec.precision == precision)
            return spec.per_clock;
    }
    return 0;
}

}  // namespace

TEST_CASE("a core with separate add pipes does more than multiply-adds")
{
    CHECK(spec_of(zen5, "core", "fma", "avx512", "fp32") == 64);
    CHECK(spec_of(zen5, "core", "fma+add", "avx512", "fp32") == 96);
    CHECK(spec_of(zen5, "core", "best", "avx512", "fp64") == 48);
    CHECK(spec_of(zen5, "core", "mul+add", "avx2", "fp32") == 32);
    CHECK(spec_of(zen5, "core", "add", "scalar", "fp64") == 2);
}

TEST_CASE("an instruction wider than the datapath takes two slots")
{
    CHECK(spec_of(zen4, "core", "fma", "avx512", "fp64") == 16);
    CHECK(spec_of(zen4, "core", "fma", "avx2", "fp64") == 16);
    CHECK(spec_of(zen4, "core", "fma+add", "avx512", "fp64") == 24);
}

TEST_CASE("no mix exceeds multiply-adds if additions share their ports")
{
    CHECK(spec_of(ice_lake, "core", "fma", "avx512", "fp32") == 64);
    CHECK(spec_of(ice_lake, "core", "best", "avx512", "fp32") == 64);
    CHECK(spec_of(ice_lake, "core", "mul+add", "avx512", "fp32") == 32);
    const Machine golden_cove = machine_of("GenuineIntel", 6, 143);
    CHECK(spec_of(golden_cove, "core", "best", "avx2", "fp32") == 40);
    CHECK(spec_of(golden_cove, "core", "best", "avx512", "fp32") == 64);
}

TEST_CASE("dot products and tiles have a spec if the machine has them and a guide gives their rate")
{
    CHECK(spec_of(zen4, "core", "dot", "avx512", "bf16") == 64);
    CHECK(spec_of(zen4, "core", "dot", "avx512", "int8") == 128);
    CHECK(spec_of(zen4, "core", "dot", "avx2", "int8") == 0);
    CHECK(spec_of(ice_lake, "core", "dot", "avx512", "bf16") == 0);
    Machine sapphire_rapids = machine_of("GenuineIntel", 6, 143);
    CHECK(spec_of(sapphire_rapids, "core", "tile", "amx", "int8") == 0);
    sapphire_rapids.features.emplace_back("amx_int8");
    CHECK(spec_of(sapphire_rapids, "core", "tile", "amx", "int8") == 2048);
}

TEST_CASE("half precision doubles the lanes, on machines that compute in it")
{
    Machine sapphire_rapids = machine_of("GenuineIntel", 6, 143);
    CHECK(spec_of(sapphire_rapids, "core", "fma", "avx512", "fp16") == 0);
    sapphire_rapids.features.emplace_back("avx512_fp16");
    CHECK(spec_of(sapphire_rapids, "core", "fma", "avx512", "fp16") == 128);
}

TEST_CASE("ports bound L1, and lines in and out bound L2")
{
    CHECK(spec_of(zen5, "L1", "load") == 128);
    CHECK(spec_of(zen5, "L1", "store") == 64);
    CHECK(spec_of(zen5, "L1", "copy") == 128);
    CHECK(spec_of(zen5, "L1", "triad") == 192);
    CHECK(spec_of(zen5, "L2", "load") == 64);
    CHECK(spec_of(zen5, "L2", "copy") == 64);
    CHECK(spec_of(zen5, "L2", "update") == 128);
    CHECK(spec_of(zen5, "L2", "accumulate") == 96);
    CHECK(spec_of(zen4, "L1", "triad") == 96);
    CHECK(spec_of(zen4, "L2", "copy") == 32);
    CHECK(spec_of(zen5, "L3", "load") == 0);
    CHECK(spec_of(zen5, "L1", "store_nt") == 0);
}

TEST_CASE("two accesses share two ports of 16 bytes on the first Zen")
{
    const Machine zen = machine_of("AuthenticAMD", 23, 0x01);
    CHECK(spec_of(zen, "L1", "load") == 32);
    CHECK(spec_of(zen, "L1", "copy") == 32);
    CHECK(spec_of(zen, "core", "fma", "avx2", "fp32") == 16);
    CHECK(spec_of(zen, "core", "best", "avx2", "fp32") == 0);
}

TEST_CASE("a ceiling that the machine cannot measure has no spec")
{
    Machine masked = zen5;
    masked.isa = {"scalar", "sse"};
    const auto of_avx = [](const SpecRate& spec) { return spec.isa.starts_with("avx"); };
    const std::vector<SpecRate> rates = spec_rates_of(masked);
    CHECK(std::none_of(rates.begin(), rates.end(), of_avx));
    CHECK_FALSE(rates.empty());
}

TEST_CASE("every spec has a source, and an unknown processor has no spec")
{
    for (const SpecRate& spec : spec_rates_of(zen5)) CHECK(spec.source.find("Zen 5") != std::string::npos);
    CHECK(spec_rates_of(machine_of("AuthenticAMD", 27, 1)).empty());
    CHECK(spec_rates_of(machine_of("AuthenticAMD", 26, 0x70)).empty());
    CHECK(spec_rates_of(machine_of("NobodyInc", 6, 106)).empty());
    CHECK(spec_rates_of(Machine{}).empty());
}

TEST_CASE("a core is a file: its figures give the rates of all probes, and a wrong key or figure is named")
{
    const std::string text =
        "name: Made\nsource: Made, Guide 1\nvendor: MadeInc\nprocessors:\n"
        "  - {family: 3, models: [1, 4]}\ndatapath_bits: 256\nnarrow: {fma: 3, add: 1, both: 4}\n"
        "wide: {fma: 1, add: 1}\nload_bytes: 48\nstore_bytes: 16\naccess_bytes: 64\n";
    const CoreChip made = parse_core_chip(text, "made.yaml");
    const Machine machine = machine_of("MadeInc", 3, 2);
    CHECK(core_chip("MadeInc", 3, 2) == nullptr);
    const auto rate = [&](const std::string& level, const std::string& operation, const std::string& isa) {
        for (const SpecRate& spec : spec_rates_of(machine, made))
            if (spec.level == level && spec.operation == operation && spec.isa == isa && spec.precision != "fp64")
                return spec.per_clock;
        return 0.0;
    };
    // Eight lanes of fp32, three multiply-adds of two FLOPs: 48; one addition beside three of them: 56.
    CHECK(rate("core", "fma", "avx2") == 48);
    CHECK(rate("core", "fma+add", "avx2") == 56);
    CHECK(rate("L1", "load", "") == 48);
    CHECK(rate("L2", "load", "") == 0);
    CHECK_THROWS_WITH(parse_core_chip(text + "lood_bytes: 1\n", "made.yaml"),
                      Catch::Contains("made.yaml:12") && Catch::Contains("lood_bytes"));
    CHECK_THROWS_WITH(parse_core_chip(text + "fill_bytes: none\n", "made.yaml"), Catch::Contains("fill_bytes"));
    CHECK_THROWS_WITH(
        parse_gpu_chip("name: x\ncapability: 9.9\ninstructions: {mma: {source: y, tile: {fp17: 1}}}\n", "made.yaml"),
        Catch::Contains("fp17"));
}
