#include "analysis/roofline/place.hpp"
#include "analysis/study/steps/whatif.hpp"
#include "made.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace roof;
using namespace roof::analysis;

namespace {

/// The placement of a step with this part alone.
Placement placed(const PartMeasurement& part, int threads = 2)
{
    Measurement row = made::row("net", 8, threads);
    row.parts = {part};
    return place(row, made::ceilings(), made::machine()).back();
}

PartMeasurement of_bytes(double compulsory)
{
    return made::part("layer", "convolution", Phase::forward, 1, 1e6, compulsory, 1e9);
}

}  // namespace

TEST_CASE("the attainable time of a step is the sum over its parts, and the roof with most of it binds")
{
    const Placement step = place(made::row(), made::ceilings(), made::machine())[0];
    REQUIRE(step.scope == Scope::step);
    // 1e9 / 100e9 under fp32, 8e6 / 10e9 under DRAM, 5e8 / 100e9 under fp32, 10e6 / 10e9 under DRAM.
    CHECK(step.attainable.value == Approx(0.010 + 0.0008 + 0.005 + 0.001));
    CHECK(step.binds == "fp32");
    CHECK(step.binds_compute);
    CHECK(step.headroom().value == Approx(0.040 - 0.0168));
}

TEST_CASE("a nearer level may bind where the caches may hold so many bytes that another roof allows less for the rest")
{
    // L2 holds 1 MiB. Of 1.1 MB memory moves at least 51 kB in 5.1 us, and L2 all in 11 us; of 1.2 MB 151 kB in 15.1
    // us, and all in 12 us.
    CHECK(placed(of_bytes(5e5)).nearer_may_bind);
    const Placement open = placed(of_bytes(1.1e6));
    CHECK(open.binds == "DRAM");
    CHECK(open.nearer_may_bind);
    CHECK(bottleneck_text(open) == "DRAM or a nearer level");
    CHECK(bottleneck_text(placed(of_bytes(1.2e6))) == "DRAM");
    PartMeasurement counted = of_bytes(1.1e6);
    counted.part.work.known = Known::counter;
    CHECK_FALSE(placed(counted).nearer_may_bind);
    CHECK_FALSE(place(made::row(), made::ceilings(), made::machine())[4].nearer_may_bind);  // bound by fp32
}

TEST_CASE("a cache binds where the blocking moves so much again that its roof allows more time than memory's")
{
    PartMeasurement part = of_bytes(1e6);
    part.part.work.refetched = {{{524288}, {10e6}}, {{65536}, {60e6}}};
    const Placement l1 = placed(part);  // 71 MB at 400 GB/s, 11 MB at 100 GB/s (L1 holds 65,536 bytes), 1 MB at 10 GB/s
    CHECK(l1.binds == "L1");
    CHECK(l1.attainable.value == Approx(71e6 / 400e9));
    CHECK(l1.levels[0].again == Bytes{70e6});
    CHECK(bottleneck_text(l1) == "L1 each byte 71 times");
    part.part.work.refetched = {{{524288}, {10e6}}};
    const Placement l2 = placed(part);  // 11 MB at 100 GB/s
    CHECK(l2.binds == "L2");
    CHECK(l2.attainable.value == Approx(11e6 / 100e9));
    part.part.work.refetched = {{{2097152}, {10e6}}};  // more than L2 holds
    CHECK(placed(part).binds == "DRAM");
    CHECK(placed(part).attainable.value == Approx(11e6 / 10e9));
}

TEST_CASE("a step is bound by a nearer level where most of the time under the roof that binds is of such parts")
{
    Measurement row = made::row();
    row.parts = {of_bytes(1.1e6), of_bytes(1.1e6), of_bytes(1.2e6)};
    CHECK(place(row, made::ceilings(), made::machine())[0].nearer_may_bind);
    row.parts = {of_bytes(1.1e6), of_bytes(1.2e6)};
    CHECK_FALSE(place(row, made::ceilings(), made::machine())[0].nearer_may_bind);
}

TEST_CASE("a row gives one placement for the step, one per phase and one per part")
{
    const auto placements = place(made::row(), made::ceilings(), made::machine());
    REQUIRE(placements.size() == 1 + 3 + 4);
    CHECK(placements[0].scope == Scope::step);
    CHECK(placements[3].scope == Scope::phase);
    CHECK(placements[3].phase == Phase::update);
    CHECK(placements[4].name == "conv1");
    CHECK(placements[5].kind == "relu");
}

TEST_CASE("the compute roof binds a layer of high intensity")
{
    // 1e9 FLOP / 100 GFLOP/s = 10 ms; 2e6 B / 10 GB/s = 0.2 ms; measured 12.5 ms.
    const Placement p = place(made::row(), made::ceilings(), made::machine())[4];
    CHECK(p.binds == "fp32");
    CHECK(p.binds_compute);
    CHECK(p.attainable.value == Approx(0.010));
    CHECK(p.fraction() == Approx(0.8));
    CHECK(p.headroom().value == Approx(0.0025));
    CHECK(p.bound() == Bound::compute);
    CHECK_FALSE(p.above());
}

TEST_CASE("the slowest level binds a layer of low intensity")
{
    // 8e6 B / 10 GB/s = 0.8 ms of 1 ms.
    const Placement p = place(made::row(), made::ceilings(), made::machine())[5];
    CHECK(p.binds == "DRAM");
    CHECK(p.fraction() == Approx(0.8));
    CHECK(p.bound() == Bound::bandwidth);
}

TEST_CASE("a share is an upper bound under a roof that is a lower bound, unless more bytes can ask for more time")
{
    Ceilings ceilings = made::ceilings();
    for (Ceiling& ceiling : ceilings.all) ceiling.steadiness = Steadiness::at_least;
    const auto placements = place(made::row(), ceilings, made::machine());
    // The ReLU moves 8 MB whatever happens; the convolution 2 MB to 4 GB, and 4 GB would take 0.4 s at 10 GB/s.
    CHECK(placements[5].is_at_most());
    CHECK(share_text(placements[5]) == "≤ 80%");
    CHECK_FALSE(placements[4].is_at_most());
    CHECK(share_text(placements[4]) == "80%");
    CHECK_FALSE(placements[0].is_at_most());
    CHECK(headroom_sense(placements[5].roof_may_be_higher, placements[5].bytes_may_be_more) == "at least ");
    CHECK(headroom_sense(placements[4].roof_may_be_higher, placements[4].bytes_may_be_more) == "about ");
    const auto steady = place(made::row(), made::ceilings(), made::machine());
    CHECK(headroom_sense(steady[5].roof_may_be_higher, steady[5].bytes_may_be_more).empty());
    CHECK(headroom_sense(steady[4].roof_may_be_higher, steady[4].bytes_may_be_more) == "up to ");
}

TEST_CASE("a layer below half of its roof is unexplained")
{
    // 5e8 FLOP / 100 GFLOP/s = 5 ms of 20 ms.
    const Placement p = place(made::row(), made::ceilings(), made::machine())[6];
    CHECK(p.fraction() == Approx(0.25));
    CHECK(p.bound() == Bound::unexplained);
}

TEST_CASE("the interval of a rate is the inverted interval of the time")
{
    const Placement p = place(made::row(), made::ceilings(), made::machine())[4];
    CHECK(p.rate.median.value == Approx(1e9 / 0.0125));
    CHECK(p.rate.low.value == Approx(1e9 / 0.01375));
    CHECK(p.rate.high.value == Approx(1e9 / 0.01125));
}

TEST_CASE("the bytes at a level extend to no reuse unless the footprint fits into the nearer caches")
{
    const auto high = [](double compulsory, std::size_t level) {
        return placed(of_bytes(compulsory)).levels[level].high.value;
    };
    CHECK(high(1000, 0) == 1e9);  // L1 has no nearer level
    CHECK(high(65536, 1) == 65536);
    CHECK(high(65537, 1) == 1e9);
    CHECK(high(1048576, 2) == 1048576);
    CHECK(high(1048577, 2) == 1e9);
}

TEST_CASE("a private cache has half the capacity for one of two threads")
{
    CHECK(placed(of_bytes(32768), 1).levels[1].high.value == 32768);
    CHECK(placed(of_bytes(32769), 1).levels[1].high.value == 1e9);
}

TEST_CASE("a capacity that was measured with the row's threads is not scaled")
{
    Ceilings ceilings = made::ceilings();
    ceilings.levels_by_threads = {{"cpu", "L1", {8192}, {40000}, {}, {}, false, 1}};
    Measurement row = made::row("net", 8, 1);
    row.parts = {of_bytes(40000)};
    CHECK(place(row, ceilings, made::machine()).back().levels[1].high.value == 40000);
    row.parts = {of_bytes(40001)};
    CHECK(place(row, ceilings, made::machine()).back().levels[1].high.value == 1e9);
}

TEST_CASE("a layer without bytes has no level, although the layers beside it have")
{
    Measurement row = made::row();
    row.parts[0].part.work.compulsory = row.parts[0].part.work.no_reuse = {};
    const auto placements = place(row, made::ceilings(), made::machine());
    CHECK(placements[0].levels.size() == 3);
    const Placement& conv = placements[4];
    CHECK(conv.levels.empty());
    CHECK(conv.binds == "fp32");
    CHECK(conv.attainable.value == Approx(0.010));
    CHECK(conv.bytes_may_be_more);  // so its headroom is at most what the compute roof leaves
    CHECK_THAT(conv.note, Catch::Contains("bytes are unknown"));
    CHECK_THAT(placements[5].note, !Catch::Contains("bytes are unknown"));
    // 1e9 FLOP under a roof twice as high: what is predicted needs no bytes.
    const Predicted faster = what_if(made::study({row}), {{{"fp32", 2.0}}, 0}).front();
    CHECK(faster.seconds.value == Approx(0.040 - 0.00625 - 0.010));
}

TEST_CASE("intensity is an interval from no reuse to compulsory")
{
    const LevelPlacement dram = place(made::row(), made::ceilings(), made::machine())[4].levels.back();
    CHECK(dram.level == "DRAM");
    CHECK(dram.intensity_low.value == Approx(0.25));
    CHECK(dram.intensity_high.value == Approx(500));
    CHECK(dram.roof.value == Approx(10e9));
}

TEST_CASE("the bytes of a step and a phase are sums over their layers, each with its own footprint")
{
    const auto placements = place(made::row(), made::ceilings(), made::machine());
    CHECK(placements[0].levels.back().low.value == Approx(24e6));
    CHECK(placements[0].levels.back().high.value == Approx(12e9 + 18e6));
    CHECK(placements[1].levels.back().low.value == Approx(10e6));
    CHECK(placements[1].flops.value == Approx(1.001e9));
}

TEST_CASE("the roofs are those of the row's thread count")
{
    const Placement p = place(made::row("net", 8, 1), made::ceilings(), made::machine())[4];
    CHECK(p.roof_threads == 1);
    CHECK(p.attainable.value == Approx(0.020));
    CHECK(p.note.find("threads") == std::string::npos);
}

TEST_CASE("a thread count without a calibration uses the roofs of the most threads, with a note")
{
    const Placement p = place(made::row("net", 8, 3), made::ceilings(), made::machine())[0];
    CHECK(p.roof_threads == 2);
    CHECK(p.note.find("no ceiling was measured with 3 threads; those of 2 are used") != std::string::npos);
}

TEST_CASE("a layer above its roof has no headroom and a note with the reason")
{
    const Placement fast = placed(made::part("relu", "relu", Phase::forward, 0.00008, 2e5, 1.6e6, 1.6e6));
    CHECK(fast.above());
    CHECK(fast.fraction() == Approx(2));
    CHECK(fast.headroom().value == 0);
    CHECK(fast.served_by == "L2");
    CHECK(fast.note ==
          "above the DRAM roof: in this time at most 50% of its bytes moved there, the others were in a "
          "nearer cache; the L2 roof allows its rate");
    CHECK(share_text(fast) == "> 100%, from L2");
    // The L2 holds 1 MiB of the 4 MB that cannot have come from memory.
    const Placement larger = placed(made::part("relu", "relu", Phase::forward, 0.0004, 1e6, 8e6, 8e6));
    CHECK(larger.served_by.empty());
    CHECK(larger.note ==
          "above the DRAM roof: no roof of a cache that holds so much allows its rate: if its bytes are right, "
          "calibrate again");
    const Placement faster = placed(made::part("relu", "relu", Phase::forward, 0.00001, 1e6, 8e6, 8e6));
    CHECK(faster.served_by.empty());
    CHECK(share_text(faster) == "> 100%");
    CHECK(faster.note.find("calibrate again") != std::string::npos);
    const Placement at = placed(made::part("relu", "relu", Phase::forward, 0.000798, 1e6, 8e6, 8e6));
    CHECK(share_text(at) == "100%");
    CHECK(at.note == "at the DRAM roof");
    const Placement padded = placed(made::part("conv", "convolution", Phase::forward, 0.005, 1e9, 1e6, 1e9));
    CHECK(padded.above());
    CHECK(padded.note.find("padding") != std::string::npos);
    CHECK(share_text(padded) == "> 100%");
}

TEST_CASE("a layer above its roof makes up for no other layer of its step")
{
    // The DRAM roof allows the ReLU 0.8 ms, and the compute roof the convolution 10 ms.
    Measurement row = made::row("net", 8, 2);
    row.parts = {made::part("relu", "relu", Phase::forward, 0.0004, 1e6, 8e6, 8e6),
                 made::part("conv", "convolution", Phase::forward, 0.020, 1e9, 1e6, 1e9)};
    row.seconds = made::about<Seconds>(0.0204);
    row.forward = row.seconds;
    const std::vector<Placement> placements = place(row, made::ceilings(), made::machine());
    const Placement& step = placements[0];
    CHECK(step.attainable.value == Approx(0.0104));
    CHECK(placements[1].attainable.value == Approx(0.0104));
    CHECK(step.headroom().value == Approx((placements[2].headroom() + placements[3].headroom()).value));
    CHECK_FALSE(step.above());
    CHECK(step.note.empty());
}

TEST_CASE("above a roof that is a lower bound nothing is claimed")
{
    Ceilings ceilings = made::ceilings();
    for (Ceiling& ceiling : ceilings.all) ceiling.steadiness = Steadiness::at_least;
    Measurement row = made::row("net", 8, 2);
    row.parts = {made::part("relu", "relu", Phase::forward, 0.00008, 2e5, 1.6e6, 1.6e6)};
    const Placement layer = place(row, ceilings, made::machine()).back();
    CHECK(share_text(layer) == "≤ 100%, from L2");
    CHECK_THAT(layer.note, Catch::StartsWith("above the DRAM roof, a lower bound: it is higher, or"));
}

TEST_CASE("executed FLOPs count against the roof if the algorithm executes fewer, and the note explains the rate")
{
    // 1e9 model FLOPs in 5 ms are 200 GFLOP/s under a roof of 100; 0.3e9 executed FLOPs need 3 ms.
    PartMeasurement part = made::part("conv", "convolution", Phase::forward, 0.005, 1e9, 1e6, 1e9);
    part.part.work.executed = {0.3e9};
    const Placement p = placed(part);
    CHECK_FALSE(p.above());
    CHECK(p.binds_compute);
    CHECK(p.fraction() == Approx(0.6));
    CHECK(p.headroom().value == Approx(0.002));
    CHECK(p.rate.median.value == Approx(200e9));
    CHECK(p.executed.value == Approx(0.3e9));
    CHECK(p.note.find("executes 30% of them") != std::string::npos);

    part.part.work.executed = {0.6e9};
    const Placement faster = placed(part);
    CHECK(faster.above());
    CHECK(faster.note.find("even by the FLOPs that the algorithm executes") != std::string::npos);

    Measurement row = made::row("net", 8, 2);
    row.work.flops = {4e9};
    row.parts = {part, part};
    const std::vector<Placement> placements = place(row, made::ceilings(), made::machine());
    CHECK(placements[0].flops.value == Approx(4e9));
    CHECK(placements[0].executed.value == Approx(4e9 - 2 * 0.4e9));
    CHECK(placements[1].executed.value == Approx(1.2e9));
}

TEST_CASE("a rate above the roof is not explained by executed FLOPs where these are more than the model's")
{
    // Together 1.1e9 FLOPs in 4.5 ms are 244 GFLOP/s over a roof of 100: for the first takes less than its roof allows,
    // and counts at its own time.
    PartMeasurement slow = made::part("conv2", "convolution", Phase::forward, 0.002, 0.1e9, 1e6, 1e9);
    slow.part.work.executed = {0.12e9};
    Measurement row = made::row("net", 8, 2);
    row.parts = {made::part("conv1", "convolution", Phase::forward, 0.0025, 1e9, 1e6, 1e9), slow};
    row.seconds = made::about<Seconds>(0.0045);
    row.forward = row.seconds;
    const Placement forward = place(row, made::ceilings(), made::machine())[1];
    CHECK_FALSE(forward.above());
    CHECK(forward.rate.median.value == Approx(1.1e9 / 0.0045));
    CHECK(forward.executed.value == Approx(1.12e9));
    CHECK(forward.note.empty());
}

TEST_CASE("work without FLOPs is placed under the bandwidth roofs")
{
    const Placement p = placed(made::part("flatten", "flatten", Phase::forward, 0.002, 0, 10e6, 10e6));
    CHECK(p.binds == "DRAM");
    CHECK(p.fraction() == Approx(0.5));
    CHECK(p.levels.back().intensity_high.value == 0);
    CHECK(p.rate.median.value == 0);
}

TEST_CASE("what limits FLOPs of a precision without a roof is unknown, and so is what limits their step")
{
    Measurement row = made::row();
    row.point.set("precision", "bf16");
    row.parts.push_back(made::part("flatten", "flatten", Phase::forward, 0.002, 0, 10e6, 10e6));
    const std::vector<Placement> placements = place(row, made::ceilings(), made::machine());
    for (const Placement& p : placements) {
        INFO(p.name);
        CHECK(p.compute_roof.value == 0);
        CHECK(p.binds == (p.name == "flatten" ? "DRAM" : ""));
        CHECK((p.attainable.value > 0) == (p.name == "flatten"));
        CHECK((p.headroom().value > 0) == (p.name == "flatten"));
        CHECK(p.note.find("no compute roof was measured for bf16") != std::string::npos);
    }
    CHECK(explain(placements[0]).find("roof allows") == std::string::npos);
}

TEST_CASE("work of unknown precision and bytes is under no roof, and the note says so")
{
    Measurement row = made::row();
    row.point = row.point.without("precision");
    for (PartMeasurement& part : row.parts) part.part.work.compulsory = part.part.work.no_reuse = {};
    const Placement p = place(row, made::ceilings(), made::machine())[4];
    CHECK(p.binds.empty());
    CHECK(p.note.find("the precision is unknown, and so is the compute roof; bytes are unknown") != std::string::npos);
    CHECK(p.note.find("only the compute roof applies") == std::string::npos);
}

TEST_CASE("without ceilings a row has a rate and no bottleneck")
{
    const Placement p = place(made::row(), {}, made::machine())[0];
    CHECK(p.rate.median.value > 0);
    CHECK(p.levels.empty());
    CHECK(p.bound() == Bound::unknown);
    CHECK(p.headroom().value == 0);
}

TEST_CASE("rows that are not ok, and probes, are not placed")
{
    CHECK(place(made::failed("net", "too large"), made::ceilings(), made::machine()).empty());
    Measurement probe = made::row();
    probe.role = Role::bandwidth;
    CHECK(place(probe, made::ceilings(), made::machine()).empty());
}
