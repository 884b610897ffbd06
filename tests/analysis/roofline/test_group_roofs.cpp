#include "analysis/report/report.hpp"
#include "analysis/roofline/place.hpp"
#include "analysis/roofline/roofs.hpp"
#include "made.hpp"

#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::analysis;

namespace {

void add_device(Ceilings& ceilings, const std::string& device, double memory, double arithmetic)
{
    std::vector<Ceiling> found{made::bandwidth("L2", 1, 2 * memory), made::bandwidth("DRAM", 1, memory),
                               made::compute("bf16", 1, arithmetic)};
    for (Ceiling& ceiling : found) {
        ceiling.device = device;
        ceilings.all.push_back(ceiling);
    }
    ceilings.levels.push_back({device, "L2", {1e6}, {40e6}, {50e6}, false});
    ceilings.levels.push_back({device, "DRAM", {60e6}, {1e9}, {}, false});
}

/// Two GPUs with 1000 and 800 GB/s of memory, 100 and 90 TFLOP/s in bf16, and links of 50 GB/s each way.
Ceilings two_gpus()
{
    Ceilings ceilings;
    add_device(ceilings, "gpu:0", 1000e9, 100e12);
    add_device(ceilings, "gpu:1", 800e9, 90e12);
    Ceiling bus = made::bandwidth("nccl", 1, 50e9);
    bus.device = "gpu:0";
    bus.operation = "bus";
    bus.condition = "nccl";
    ceilings.all.push_back(bus);
    return ceilings;
}

/// Both GPUs are of one model, or of two.
Machine machine_with(const std::string& first, const std::string& second)
{
    Machine machine = made::machine();
    machine.devices = {{"gpu:0", "gpu", first, {}, {}, {}, {}}, {"gpu:1", "gpu", second, {}, {}, {}, {}}};
    return machine;
}

/// A step of two ranks that takes `seconds` and sends `messages` bytes. Together: 1.9 TFLOP, 9 GB compulsory.
Measurement step_on(const std::string& device, double seconds, double messages)
{
    Measurement row;
    row.bench = "train";
    row.device = device;
    for (const auto& [axis, value] : {std::pair{"model", "net"}, {"batch", "8"}, {"precision", "bf16"}, {"ranks", "2"}})
        row.point.set(axis, value);
    row.parts = {made::part("conv1", "convolution", Phase::forward, seconds, 1.9e12, 9e9, 9e9)};
    row.work = row.parts.front().part.work;
    row.seconds = row.forward = made::about<Seconds>(seconds);
    row.messages = {messages};
    row.samples = {{{seconds}, {}, {seconds}, {}, {}, 6.9, {}, {}, true}};
    return row;
}

Placement placed(const Measurement& row)
{
    return place(row, with_groups(two_gpus(), std::vector{row}, made::machine()), made::machine()).front();
}

}  // namespace

TEST_CASE("the roofs of two devices are the sums of their roofs")
{
    const Ceilings ceilings = with_groups(two_gpus(), std::vector{step_on("gpu:0,1", 0.1, 0)}, made::machine());
    const Roofs roofs = roofs_of(ceilings, "gpu:0,1");
    REQUIRE(roofs.levels.size() == 2);
    CHECK(roofs.levels[0]->level == "L2");
    CHECK(roofs.levels[1]->rate.median.value == Approx(1800e9));
    CHECK(roofs.levels[1]->rate.low.value == Approx(0.9 * 1800e9));
    CHECK(roofs.levels[1]->devices == 2);
    CHECK(roofs.levels[1]->variant == "measured, added: gpu:0 + gpu:1");
    REQUIRE(roofs.precision("bf16") != nullptr);
    CHECK(roofs.precision("bf16")->rate.median.value == Approx(190e12));
    CHECK(ceilings.levels.back().device == "gpu:0,1");
    CHECK(ceilings.levels.back().to.value == Approx(2e9));
    CHECK(roofs.levels[1]->known == Known::measured);
}

TEST_CASE("the sums of emulated devices are emulated")
{
    Ceilings each = two_gpus();
    for (Ceiling& one : each.all) one.known = Known::emulated;
    const Ceilings ceilings = with_groups(each, std::vector{step_on("gpu:0,1", 0.1, 0)}, made::machine());
    const Roofs roofs = roofs_of(ceilings, "gpu:0,1");
    CHECK(roofs.levels.at(1)->known == Known::emulated);
    CHECK(roofs.levels.at(1)->variant == "emulated, added: gpu:0 + gpu:1");
}

TEST_CASE("a group lacks a ceiling that one of its devices lacks, and one device is not a group")
{
    Ceilings ceilings = two_gpus();
    std::erase_if(ceilings.all, [](const Ceiling& c) { return c.device == "gpu:1" && c.kind == Role::compute; });
    const Measurement row = step_on("gpu:0,1", 0.1, 0);
    CHECK(roofs_of(with_groups(ceilings, std::vector{row}, made::machine()), "gpu:0,1").compute.empty());
    CHECK(with_groups(ceilings, std::vector{step_on("gpu:0", 0.1, 0)}, made::machine()).all.size() ==
          ceilings.all.size());

    std::erase_if(ceilings.all, [](const Ceiling& c) { return c.device == "gpu:1"; });
    const Placement alone =
        place(row, with_groups(ceilings, std::vector{row}, made::machine()), made::machine()).front();
    CHECK(alone.binds.empty());
    CHECK_THAT(alone.note, Catch::Contains("calibrate each device"));
}

TEST_CASE("every loop of a level is added, and the roof of a group is its fastest sum")
{
    Ceilings ceilings = two_gpus();
    for (const auto& [device, rate] : {std::pair{"gpu:0", 400e9}, {"gpu:1", 950e9}}) {
        Ceiling copy = made::bandwidth("DRAM", 1, rate);
        copy.device = device;
        copy.operation = "copy";
        ceilings.all.push_back(copy);
    }
    // Loads 1000 + 800, copies 400 + 950 GB/s. Half read, half written is the copy, whichever loop is a GPU's fastest.
    Measurement row = step_on("gpu:0,1", 0.1, 0);
    row.parts.front().part.work.read = row.parts.front().part.work.written = {4.5e9};
    const Placement step =
        place(row, with_groups(ceilings, std::vector{row}, made::machine()), made::machine()).front();
    CHECK(step.levels.back().access == "copy");
    CHECK(step.levels.back().roof.value == Approx(1350e9));
    CHECK(roofs_of(with_groups(ceilings, std::vector{row}, made::machine()), "gpu:0,1").level("DRAM")->operation ==
          "load");
}

TEST_CASE("a GPU that was not calibrated counts as a calibrated one of the same model, and no other")
{
    Ceilings ceilings = two_gpus();
    std::erase_if(ceilings.all, [](const Ceiling& c) { return c.device == "gpu:1"; });
    std::erase_if(ceilings.levels, [](const MeasuredLevel& level) { return level.device == "gpu:1"; });
    const std::vector rows{step_on("gpu:0,1", 0.1, 0)};
    const Ceilings alike = with_groups(ceilings, rows, machine_with("A", "A"));
    const Roofs roofs = roofs_of(alike, "gpu:0,1");
    const Ceiling* const bf16 = roofs.precision("bf16");
    REQUIRE(bf16 != nullptr);
    CHECK(bf16->rate.median.value == Approx(200e12));
    CHECK(bf16->variant == "measured, added: gpu:0 + gpu:1 (as gpu:0)");
    CHECK(alike.levels.back().to.value == Approx(2e9));
    CHECK(roofs_of(with_groups(ceilings, rows, machine_with("A", "B")), "gpu:0,1").empty());
}

TEST_CASE("a step on two devices is placed under their summed roofs, with the link as a level")
{
    // 1.9e12 / 190e12 = 10 ms under bf16, 9e9 / 1800e9 = 5 ms under DRAM; 100e6 / 50e9 = 2 ms over the link.
    const Placement step = placed(step_on("gpu:0,1", 0.020, 100e6));
    CHECK(step.binds == "bf16");
    CHECK(step.attainable.value == Approx(0.010));
    CHECK(step.fraction() == Approx(0.5));
    REQUIRE(step.link);
    CHECK(step.link->low.value == Approx(100e6));
    CHECK(step.link->roof.value == Approx(50e9));
    CHECK(step.link->intensity_high.value == Approx(19e3));
}

TEST_CASE("the link binds if the messages take longer than the work")
{
    // 800e6 / 50e9 = 16 ms.
    const Placement step = placed(step_on("gpu:0,1", 0.020, 800e6));
    CHECK(step.binds == "link");
    CHECK_FALSE(step.binds_compute);
    CHECK(step.attainable.value == Approx(0.016));
    CHECK(step.fraction() == Approx(0.8));
    CHECK(bottleneck_text(step) == "link");
    CHECK(step.bound() == Bound::bandwidth);
}

TEST_CASE("ranks on one machine are placed under its ceilings, without a link")
{
    Measurement row = made::row();
    row.point.set("ranks", "2");
    row.messages = {100e6};
    const Placement together = place(row, made::ceilings(), made::machine()).front();
    const Placement alone = place(made::row(), made::ceilings(), made::machine()).front();
    CHECK(together.attainable.value == alone.attainable.value);
    CHECK(together.compute_roof.value == alone.compute_roof.value);
    CHECK_FALSE(together.link);
}

TEST_CASE("report and terminal show the summed roofs of a group and the link")
{
    const Measurement row = step_on("gpu:0,1", 0.020, 100e6);
    const Study study = made::study({row}, with_groups(two_gpus(), std::vector{row}, made::machine()));
    const std::string html = report_html(std::vector{study});
    CHECK_THAT(html, Catch::Contains("DRAM roof, measured, added: gpu:0 + gpu:1"));
    CHECK_THAT(html, Catch::Contains("measured, added: gpu:0 + gpu:1"));
    CHECK_THAT(html, Catch::Contains("link 50.0 GB/s"));
    const std::string text = terminal_roofline(study, 100, true);
    CHECK_THAT(text, Catch::Contains("gpu:0,1") && Catch::Contains("roofs (measured, added: gpu:0 + gpu:1)"));
}

TEST_CASE("a device whose one ceiling is on no level is drawn without roofs")
{
    // One working set shows no plateau, so its rate has no level and is no roof; another device has roofs.
    Ceilings ceilings = two_gpus();
    std::erase_if(ceilings.all, [](const Ceiling& c) { return c.device == "gpu:1"; });
    Ceiling latency = made::bandwidth("DRAM", 1, 1e9);
    latency.device = "gpu:1";
    latency.kind = Role::latency;
    ceilings.all.push_back(latency);
    REQUIRE(roofs_of(ceilings, "gpu:1").empty());
    const Study study = made::study({step_on("gpu:0", 0.020, 0), step_on("gpu:1", 0.020, 0)}, ceilings);
    CHECK_THAT(terminal_roofline(study, 100, true), Catch::Contains("1.00 TB/s"));
}
