// Why a point lies above its roof, or has none; and every committed step under the roofs of its machine: that it moves
// no more than the data sheet's pins carry. The sheets' figures stand here, and the arithmetic is done again.
#include "analysis/roofline/place.hpp"
#include "analysis/study/steps/answer.hpp"
#include "analysis/study/study.hpp"
#include "made.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

using namespace roof;
using namespace roof::analysis;

namespace {

/// Bytes per second of the memory of the socket or the card, by how its committed folders begin: of the sheets of
/// configs/machines; Zen 3, 4: eight, twelve channels of DDR4-3200, DDR5-4800; Emerald Rapids: eight of DDR5-5600.
const std::map<std::string, double> pins_of{{"nvidia-h200", 4.8e12},
                                            {"nvidia-h100-80gb-hbm3", 3.35e12},
                                            {"amd-epyc-family26-2cpu", 614.4e9},
                                            {"epyc-zen3", 204.8e9},
                                            {"epyc-zen4", 460.8e9},
                                            {"intel-xeon", 358.4e9},
                                            {"xeon-emerald-rapids", 358.4e9}};

double pins_at(const std::filesystem::path& folder)
{
    for (const auto& [begin, pins] : pins_of)
        if (folder.parent_path().filename().string().starts_with(begin) ||
            folder.filename().string().starts_with(begin))
            return pins;
    FAIL(folder << " is of a machine without pins");
    return 0;
}

std::vector<std::filesystem::path> folders_with(const std::string& file)
{
    std::vector<std::filesystem::path> all;
    for (const char* const tree : {ROOF_EXAMPLES, ROOF_RECORDED})
        for (const auto& found : std::filesystem::recursive_directory_iterator(tree))
            if (found.path().filename() == file) all.push_back(found.path().parent_path());
    std::ranges::sort(all);
    return all;
}

double largest_cache(const Study& study, const std::string& device)
{
    double largest = 0;
    for (const MeasuredLevel& level : study.ceilings.levels)
        if (level.device == device) largest = std::max(largest, level.to.value);
    return largest;
}

}  // namespace

TEST_CASE("without a loop of stores, writes have the rate of copies, and that explains a point above its roof")
{
    Ceilings ceilings = made::ceilings();
    for (Ceiling& ceiling : ceilings.all)
        if (ceiling.kind == Role::bandwidth && ceiling.level == "DRAM") ceiling.operation = "load";
    Ceiling copy = *std::ranges::find_if(ceilings.all, [](const Ceiling& c) {
        return c.kind == Role::bandwidth && c.level == "DRAM" && c.threads == 2;
    });
    copy.operation = "copy";
    copy.rate = made::about<Hertz>(8e9);
    ceilings.all.push_back(copy);
    Measurement row = made::row("net", 8, 2);
    // 10 MB are read and 30 MB written: 60 MB by copies, 7.5 ms; loads reach 10 GB/s, with which 40 MB take 4 ms.
    row.parts = {made::part("norm", "batch_norm", Phase::forward, 0.005, 1e6, 40e6, 40e6)};
    row.parts[0].part.work.read = Bytes{10e6};
    row.parts[0].part.work.written = Bytes{30e6};
    const Placement above = place(row, ceilings, made::machine()).back();
    CHECK(above.attainable.value == Approx(0.0075));
    CHECK(above.served_by.empty());
    CHECK(
        above.note ==
        "above the DRAM roof, which has the rate of copies for writes beyond what is read, until stores are measured");
    row.parts[0].seconds = made::about<Seconds>(0.010);
    CHECK(
        place(row, ceilings, made::machine()).back().note ==
        "under the DRAM roof, which has the rate of copies for writes beyond what is read, until stores are measured");
    row.parts[0].seconds = made::about<Seconds>(0.003);  // faster than loads
    CHECK_THAT(place(row, ceilings, made::machine()).back().note, Catch::Contains("calibrate again"));
    Ceiling store = copy;
    store.operation = "store";
    ceilings.all.push_back(store);
    row.parts[0].seconds = made::about<Seconds>(0.010);
    const Placement measured = place(row, ceilings, made::machine()).back();
    CHECK(measured.attainable.value == Approx(0.00475));  // 10 MB by loads at 10 GB/s, 30 MB by stores at 8 GB/s
    CHECK(measured.note.empty());
}

TEST_CASE(
    "a step on a GPU that counted the bytes of fused layers one by one has no roof, nor has one whose ranks took turns")
{
    Measurement row = made::row("net", 8, 2);
    row.parts[0].part.kind = "batch_norm";
    row.parts[0].part.implementation = "roof:statistics";
    CHECK(!place(row, made::ceilings(), made::machine()).front().binds.empty());  // on a CPU
    Ceilings ceilings = made::ceilings();
    for (Ceiling& ceiling : ceilings.all) ceiling.device = "gpu:0";
    row.device = "gpu:0";
    const Placement former = place(row, ceilings, made::machine()).front();
    CHECK(former.binds.empty());
    CHECK_THAT(former.note, Catch::Contains("not of the operations that ran"));
    row.description = "A step; the bytes are those of the tensors that its operations read and write.";
    CHECK(!place(row, ceilings, made::machine()).front().binds.empty());
    row.remarks = "several ranks on one GPU: they take turns, and this time is not one of ranks side by side";
    CHECK(place(row, ceilings, made::machine()).front().binds.empty());
    CHECK_THAT(answer_text(made::study({row}, ceilings), row), Catch::StartsWith("not judged: its ranks took turns"));
}

TEST_CASE(
    "No committed layer moves more than the memory's pins carry and a cache holds, and each point above its roof has a "
    "true cause")
{
    std::set<std::string> without_roofs;
    int layers = 0, above = 0;
    for (const std::filesystem::path& folder : folders_with("layers.csv")) {
        const std::string machine = folder.parent_path().filename();
        INFO(folder);
        const double pins = pins_at(folder);
        const Study study = open_study(folder);
        REQUIRE(!study.ceilings.all.empty());
        for (const Measurement& row : study.results.rows) {
            if (row.status != Status::ok || row.role != Role::step) continue;
            const std::vector<Placement> placements = place(row, study.ceilings, study.calibration.machine);
            const double cache = largest_cache(study, row.device);
            if (const Placement& step = placements.front(); step.binds.empty()) {
                const bool is_old = step.note.find("not of the operations that ran") != std::string::npos;
                const bool took_turns = step.note.find("took turns on one device") != std::string::npos;
                CHECK((is_old || took_turns));
                without_roofs.insert(machine + " " + step.model + (took_turns ? ", turns" : ""));
                continue;
            }
            for (const Placement* const p : layers_of(placements, row)) {
                INFO(p->name << " " << p->phase_name() << ": " << p->note);
                ++layers;
                const LevelPlacement& memory = p->levels.back();
                const double seconds = p->seconds.median.value;
                CHECK(memory.low.value <= pins * seconds + cache);
                if (p->fraction() < shown_as_above || p->binds_compute) continue;
                ++above;
                if (!p->served_by.empty()) {
                    const double moved_elsewhere = memory.low.value - memory.roof.value * seconds;
                    CHECK(moved_elsewhere <= cache);
                } else {
                    const bool is_open = p->note.find("a lower bound: it is higher") != std::string::npos;
                    const bool is_of_writes = p->note.find("the rate of copies for writes") != std::string::npos;
                    CHECK((is_open || is_of_writes));
                    CHECK(memory.low.value <= pins * seconds);
                }
            }
        }
    }
    CHECK(layers > 1000);
    CHECK(above > 10);
    // Measured when a layer's bytes were those of its definition; 19 of its layers would have moved more than the pins
    // carry.
    CHECK(without_roofs == std::set<std::string>{"nvidia-h200 alexnet, turns", "nvidia-h200 resnet50"});
}

TEST_CASE("No committed row of a bandwidth moves more than the memory's pins carry and a cache holds")
{
    constexpr double beyond_caches = 8;  // passes over so large a set find nothing of the last one
    int rows = 0, gpu_rows = 0, beyond = 0;
    for (const std::filesystem::path& folder : folders_with("measurements.csv")) {
        const Results results = read_results(folder);
        for (const Measurement& row : results.rows) {
            if (row.status != Status::ok || row.bench != "bandwidth" || row.point.has("path")) continue;
            double cache = 0;
            for (const Device& device : results.machine.devices)
                for (const MemoryLevel& level : device.levels)
                    if (device.name == row.device && level.name != "DRAM")
                        cache = std::max(cache, level.capacity.value * level.instances);
            const double set = row.point.number("working_set");
            if (set < 2 * cache) continue;
            INFO(folder << " " << row.id());
            ++rows;
            gpu_rows += row.device == "gpu:0" ? 1 : 0;
            beyond += set >= beyond_caches * cache ? 1 : 0;
            const double kept = set >= beyond_caches * cache ? 0 : row.work.compulsory.value * cache / set;
            CHECK(row.work.compulsory.value - kept <= pins_at(folder) * row.seconds.median.value);
        }
    }
    CHECK(rows > 900);
    CHECK(gpu_rows > 100);
    CHECK(beyond > 50);
}
