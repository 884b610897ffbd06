// The atlas: every file of results/atlas, and what is refused.
#include "analysis/fleet/atlas.hpp"

#include "analysis/roofline/roofs.hpp"
#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "ert/method/results/results.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <map>

using namespace roof;
using namespace roof::analysis;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

const fs::path root = fs::path(ROOF_TEST_DATA) / "../..";
const fs::path atlas = root / "results/atlas";

AtlasMachine read(const fs::path& file)
{
    return parse_atlas(file.stem(), read_file(file));
}

std::vector<AtlasMachine> all()
{
    std::vector<AtlasMachine> machines;
    for (const fs::directory_entry& entry : fs::directory_iterator(atlas))
        if (entry.path().extension() == ".csv") machines.push_back(read(entry.path()));
    std::ranges::sort(machines, {}, &AtlasMachine::name);
    return machines;
}

Digest made_digest()
{
    Digest digest{.node = "unknown", .kind = "made", .plan = "0", .revision = "a", .time = "2026-11-22T18:02:16Z"};
    digest.ceilings = {
        digest_rate({"cpu bandwidth DRAM load threads=1", "B/s", "steady"}, 5e9, 4e9, 6e9, 9),
        digest_rate({"cpu bandwidth DRAM load threads=2", "B/s", "steady"}, 1e10, 9e9, 1.1e10, 9),
        digest_rate({"cpu bandwidth DRAM load threads=2, node 0 from node 1", "B/s", "steady"}, 9e10, 9e10, 9e10, 9),
        digest_rate({"cpu bandwidth DRAM store_nt threads=2", "B/s", "at least"}, 2e10, 1.9e10, HUGE_VAL, 9),
        digest_rate({"cpu compute core fma fp32 avx2 threads=2", "FLOP/s", "steady"}, 3e11, 2.9e11, 3.1e11, 9),
        digest_rate({"cpu compute core best fp32 avx2 threads=2", "FLOP/s", "steady"}, 4e11, 3.9e11, 4.1e11, 9),
        digest_rate({"cpu latency DRAM chase threads=1", "lines/s", "steady"}, 1e7, 0.9e7, 1.1e7, 9)};
    return digest;
}

}  // namespace

TEST_CASE("every file of the atlas can be read, and none names a node")
{
    const std::vector<AtlasMachine> machines = all();
    CHECK(machines.size() >= 5);
    for (const AtlasMachine& machine : machines) {
        INFO(machine.name);
        CHECK(machine.digest.node == "unknown");
    }
    CHECK(atlas_table(machines).rows.size() >= machines.size());
    CHECK_THAT(atlas_page(machines), Contains("<svg") && Contains(machines.front().name));
}

TEST_CASE("the published files are the digests of their sources")
{
    const std::map<std::string, std::string> sources{
        {"amd-epyc-zen4-2cpu", "tests/method/data/epyc-zen4-6"},
        {"amd-epyc-zen5-2cpu", "results/examples/amd-epyc-family26-2cpu/2026-11-22T063430Z-e998eee9d186"},
        {"intel-xeon-emerald-rapids-2cpu", "tests/method/data/xeon-emerald-rapids-1"},
        {"intel-xeon-emerald-rapids-16cpu",
         "results/examples/intel-xeon-family6-16cpu/2026-11-23T004126Z-ff9c1ca821e9"},
        {"nvidia-h100-80gb-hbm3", "results/examples/nvidia-h100-80gb-hbm3/2026-11-23T070018Z-c53771ba9338"},
        {"nvidia-h200", "results/examples/nvidia-h200/2026-11-27T181558Z-dcfd76afa88d"}};
    for (const auto& [name, source] : sources) {
        INFO("roof atlas add " << source << " " << name);
        CHECK(to_csv(for_atlas(name, read_results(root / source)).digest) == read_file(atlas / (name + ".csv")));
    }
}

TEST_CASE("the H100 of the atlas is that of results/examples/nvidia-h100-80gb-hbm3/README.md")
{
    const DataTable table = atlas_table({read(atlas / "nvidia-h100-80gb-hbm3.csv")});
    REQUIRE(table.rows.size() == 1);
    CHECK(table.cell(0, "device").text == "gpu:0");
    CHECK(table.cell(0, "fp64").text == "66.8 TFLOP/s");
    CHECK(table.cell(0, "L2").text == "7.91 TB/s");  // loads that pass the L1, the faster of two of one name
    CHECK(table.cell(0, "DRAM").text == "3.21 TB/s");
}

TEST_CASE("a device has the roofs at its most threads: multiply-adds, the fastest access, no special conditions")
{
    const std::vector<AtlasMachine> machines{parse_atlas("made", to_csv(made_digest()))};
    const DataTable table = atlas_table(machines);
    REQUIRE(table.rows.size() == 1);
    CHECK(table.cell(0, "threads").text == "2");
    CHECK(table.cell(0, "DRAM").text == "≥ 20.0 GB/s");
    CHECK(table.cell(0, "fp32").text == "300 GFLOP/s");
    CHECK(std::get<double>(table.cell(0, "ridge, fp32").value) == Approx(15));
    const Figure figure = atlas_figure(machines);
    REQUIRE(figure.marks.size() == 1);
    CHECK(figure.marks[0].x.median == 2e10);
    CHECK(figure.marks[0].y.median == 3e11);
    CHECK(figure.marks[0].name == "made");
}

TEST_CASE("a digest with a node's name, above its spec, without memory or with another name is refused")
{
    const auto refused = [](const Digest& digest, const std::string& name = "made") {
        return [=] { parse_atlas(name, to_csv(digest)); };
    };
    Digest named = made_digest();
    named.node = "n17";
    CHECK_THROWS_WITH(refused(named)(), Contains("names the node n17"));
    Digest fast = made_digest();
    fast.ceilings[4].spec = 2.9e11;
    CHECK_THROWS_WITH(refused(fast)(), Contains("spec"));
    fast.ceilings[4].words =
        std::make_shared<const RateWords>(RateWords{fast.ceilings[4].name(), fast.ceilings[4].unit(), "at least"});
    CHECK_NOTHROW(refused(fast)());
    Digest compute_alone = made_digest();
    std::erase_if(compute_alone.ceilings,
                  [](const DigestRate& rate) { return rate.name().find("DRAM") != std::string::npos; });
    CHECK_THROWS_WITH(refused(compute_alone)(), Contains("DRAM"));
    CHECK_THROWS_WITH(refused(made_digest(), "My Machine")(), Contains("small letters"));
}
