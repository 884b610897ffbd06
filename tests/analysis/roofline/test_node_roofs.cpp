#include "analysis/roofline/place.hpp"
#include "analysis/roofline/roofs.hpp"
#include "made.hpp"

#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::analysis;

namespace {

/// The made ceilings, all as many times as fast.
Ceilings scaled(double by)
{
    Ceilings all = made::ceilings();
    for (Ceiling& ceiling : all.all)
        for (auto* const end : {&ceiling.rate.median, &ceiling.rate.low, &ceiling.rate.high}) *end = *end * by;
    return all;
}

Ceiling all_reduce(const std::string& path, double rate)
{
    Ceiling ceiling = made::bandwidth(path, 1, rate);
    ceiling.operation = "allreduce";
    return ceiling;
}

}  // namespace

TEST_CASE("ranks on several nodes stand under the slowest node of each ceiling, times their number")
{
    Ceilings slow_memory = scaled(2);
    for (Ceiling& ceiling : slow_memory.all)
        if (ceiling.level == "DRAM") ceiling.rate = made::about<Hertz>(1e9);
    const Ceilings over = over_nodes({{"n1", scaled(1)}, {"n2", slow_memory}, {"n3", scaled(3)}});
    CHECK(over.bandwidth("cpu", "DRAM", 2)->rate.median.value == Approx(3e9));
    CHECK(over.bandwidth("cpu", "DRAM", 2)->variant == "3 x n2, the slowest");
    CHECK(over.compute("cpu", "fp32", 2)->rate.median.value == Approx(300e9));
    CHECK(over.compute("cpu", "fp32", 2)->variant == "3 x n1, the slowest");
}

TEST_CASE("a ceiling that a node lacks is no roof")
{
    Ceilings without = scaled(1);
    std::erase_if(without.all, [](const Ceiling& ceiling) { return ceiling.precision == "fp64"; });
    for (const auto& nodes : {std::vector<NodeCeilings>{{"n1", scaled(1)}, {"n2", without}},
                              std::vector<NodeCeilings>{{"n1", without}, {"n2", scaled(1)}}}) {
        const Ceilings over = over_nodes(nodes);
        CHECK(over.compute("cpu", "fp64", 2) == nullptr);
        CHECK(over.compute("cpu", "fp32", 2) != nullptr);
    }
    CHECK(over_nodes({}).all.empty());
}

TEST_CASE("the network's roof is the fastest all-reduce over as many ranks")
{
    Ceilings ceilings;
    ceilings.all = {all_reduce("2x1", 5e9), all_reduce("2x2", 1e9), all_reduce("4x1", 2e9), all_reduce("host", 9e9)};
    CHECK(link_between_nodes(ceilings, 4)->level == "4x1");
    CHECK(link_between_nodes(ceilings, 2)->level == "2x1");
    CHECK(link_between_nodes(ceilings, 3) == nullptr);
}

TEST_CASE("a step of several nodes is bound by the network where its messages take longer than its work")
{
    Ceilings over = over_nodes({{"n1", scaled(1)}, {"n2", scaled(1)}});
    Measurement row;
    row.bench = "train";
    row.role = Role::step;
    row.device = "cpu";
    row.point.set("model", "alexnet");
    row.point.set("batch", "8");
    row.point.set("precision", "fp32");
    row.point.set("threads", "2");
    row.point.set("ranks", "2");
    row.seconds = made::about<Seconds>(2);
    row.work = {.flops = Flops{20e9}, .compulsory = Bytes{1e9}, .no_reuse = Bytes{1e9}};
    row.messages = Bytes{1e9};
    const Placement without = place(row, over, made::machine()).front();
    CHECK_FALSE(without.link);
    over.all.push_back(all_reduce("2x1", 1e9));
    const Placement step = place(row, over, made::machine()).front();
    REQUIRE(step.link);
    CHECK(step.binds == "network");
    CHECK(step.attainable.value == Approx(1));
    CHECK(step.link->intensity_high.value == Approx(20));
    over.all.back().rate = made::about<Hertz>(1e12);
    CHECK(place(row, over, made::machine()).front().binds != "network");
}
