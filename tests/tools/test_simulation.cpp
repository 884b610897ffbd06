// Callgrind's output, and its counts beside the analytic interval.
#include "ert/base/error.hpp"
#include "tests/tools/workbench.hpp"
#include "tools/roof/programs/simulation.hpp"

#include <catch2/catch.hpp>

using namespace roof;

namespace {

std::string dump(const std::string& trigger)
{
    return "# callgrind format\nversion: 1\ncreator: callgrind-3.19.0\npid: 42\ncmd: roof run\npart: 3\n\n\n"
           "desc: I1 cache: 32768 B, 64 B, 8-way associative\ndesc: Timerange: Basic block 1 - 9\ndesc: Trigger: " +
           trigger +
           "\n\npositions: line\nevents: Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw\nsummary: 1000 400 200 1 30 20 0 5 "
           "2\n\n"
           "fn=(1) main\n1 1000 400 200 1 30 20 0 5 2\n\ntotals: 1000 400 200 1 30 20 0 5 2\n";
}

nlohmann::json parts()
{
    const auto part = [](const char* layer, double compulsory, double no_reuse) {
        return nlohmann::json{{"layer", layer},
                              {"kind", "relu"},
                              {"phase", "forward"},
                              {"compulsory_bytes", compulsory},
                              {"no_reuse_bytes", no_reuse}};
    };
    return {part("a", 1000, 4000), part("b", 1, 2)};
}

}  // namespace

TEST_CASE("a dump has its part, and the loads and stores that missed")
{
    const Dump of_part = parse_dump(dump("Client Request: part 7"));
    CHECK(of_part.part == 7);
    CHECK(of_part.first == 50);
    CHECK(of_part.last == 7);
    CHECK(parse_dump(dump("Program termination")).part == -1);
    CHECK_THROWS_AS(parse_dump("nothing"), Error);
    CHECK_THROWS_AS(parse_dump("events: Ir D1mr\nsummary: 1 many\n"), Error);
    CHECK(parse_dump("events: Ir D1mr DLmr\ntotals: 1 2\n").first == 2);
}

TEST_CASE("misses of a part are summed in lines of 64 bytes and compared with its interval")
{
    const Dump one = parse_dump(dump("Client Request: part 0"));
    const std::vector<SimulatedPart> simulated = simulated_parts(parts(), {one, {1, 1, 0}, {-1, 1e9, 1e9}});
    CHECK(simulated[0].first == Bytes{3200});
    CHECK(simulated[0].last == Bytes{448});
    CHECK(place_of(simulated[0].first, simulated[0]) == "in");
    CHECK(place_of(simulated[0].last, simulated[0]) == "below");
    CHECK(place_of(simulated[1].first, simulated[1]) == "above");
    CHECK(place_of({960}, simulated[0]) == "in");
    CHECK(place_of({940}, simulated[0]) == "below");
    CHECK(place_of({4150}, simulated[0]) == "in");
    CHECK(place_of({4250}, simulated[0]) == "above");
    CHECK_THROWS_AS(simulated_parts(parts(), {{2}}), Error);
    const std::string text = simulation_text(simulated, {simulated_cache({32768}), simulated_cache({1 << 20})});
    CHECK_THAT(text, Catch::Contains("3.20 kB") && Catch::Contains("(simulated)") && Catch::Contains("(analytic)"));
    CHECK(simulation_json(simulated, {})["parts"][0]["simulated_memory_bytes"] == 448);
}

TEST_CASE("the number of sets of a simulated cache is a power of two")
{
    CHECK(simulated_cache({32768}).option() == "32768,8,64");
    CHECK(simulated_cache({49152}).option() == "49152,12,64");
    CHECK(simulated_cache({2 << 20}).option() == "2097152,8,64");
    CHECK(simulated_cache({1}).option() == "512,8,64");
    CHECK(simulated_cache({32 << 20}).option() == "33554432,8,64");
    CHECK(simulated_cache({33 << 20}).option() == "34603008,33,64");
    CHECK(simulated_cache({(32 << 20) + 64}).option() == "33554432,64,64");  // not one set of 524289 ways
}

TEST_CASE("the simulated caches are those that the machine reports")
{
    const auto level = [](const char* name, double bytes) { return MemoryLevel{.name = name, .capacity = {bytes}}; };
    Machine machine;
    machine.devices.push_back(
        {.name = "cpu", .kind = "cpu", .levels = {level("L1", 49152), level("L2", 1 << 20), level("L3", 32 << 20)}});
    const SimulatedCaches caches = simulated_caches(machine);
    CHECK(caches.options() == std::vector<std::string>{"--cache-sim=yes", "--D1=49152,12,64", "--LL=33554432,8,64"});
    CHECK(caches.text() == "48 KiB with 12 ways and 32 MiB with 8 ways");
}

TEST_CASE("a simulation takes one row")
{
    const tests::Workbench bench;
    const tests::Said said = bench.roof({"run", "tinynet", "--batch", "4,8", "--simulate"});
    CHECK(said.status == 2);
    CHECK_THAT(said.err, Catch::Contains("--simulate"));
}
