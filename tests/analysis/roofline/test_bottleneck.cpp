// A bottleneck is confident only if it holds within the uncertainty of the roofs.
#include "analysis/roofline/place.hpp"
#include "made.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <random>

using namespace roof;
using namespace roof::analysis;

namespace {

/// A single layer. The fp32 and DRAM roofs of made::ceilings() allow it `compute` and `memory` seconds.
Placement placed(double compute, double memory, double noise)
{
    Measurement row = made::row();
    row.parts = {made::part("conv1", "convolution", Phase::forward, 1, compute * 100e9, memory * 10e9, memory * 10e9)};
    Ceilings ceilings = made::ceilings();
    for (Ceiling& c : ceilings.all) {
        c.rate.low = c.rate.median * (1 / (1 + noise));
        c.rate.high = c.rate.median * (1 + noise);
    }
    return place(row, ceilings, made::machine()).back();
}

}  // namespace

TEST_CASE("a roof that binds in every draw is named alone")
{
    const Placement p = placed(0.010, 0.001, 0.1);
    CHECK(is_confident(p));
    CHECK(bottleneck_text(p) == "fp32");
    CHECK(bottleneck_text(placed(0.001, 0.010, 0.1)) == "DRAM");
}

TEST_CASE("two roofs that allow the same time are both named, with shares that add up to one")
{
    const Placement p = placed(0.010, 0.010, 0.1);
    CHECK_FALSE(is_confident(p));
    REQUIRE(p.bottlenecks.size() == 2);
    CHECK(p.bottlenecks[0].share + p.bottlenecks[1].share == Approx(1));
    CHECK(p.bottlenecks[0].share == Approx(0.5).margin(0.06));
    CHECK(bottleneck_text(p).find(" or ") != std::string::npos);
    CHECK(bottleneck_text(p).find("%)") != std::string::npos);
}

TEST_CASE("the share of a roof follows from the intervals of both roofs")
{
    const double apart = 1.05;
    const double sigma = std::sqrt(2.0) * std::log(1.1) / 1.959964;
    const double expected = 0.5 * std::erfc(-std::log(apart) / sigma / std::sqrt(2.0));
    CHECK(placed(0.010 * apart, 0.010, 0.1).bottlenecks[0].share == Approx(expected).margin(0.04));
}

TEST_CASE(
    "roofs are drawn from Student's distribution for the rounds of their intervals, and lower bounds from the normal "
    "one")
{
    const double apart = 1.02;
    Measurement row = made::row();
    row.parts = {
        made::part("conv1", "convolution", Phase::forward, 1, 0.010 * apart * 100e9, 0.010 * 10e9, 0.010 * 10e9)};
    Ceilings ceilings = made::ceilings();
    for (Ceiling& c : ceilings.all) {
        const bool is_memory = c.level == "DRAM";
        c.rate.low = c.rate.median * (is_memory ? 1 / 1.1 : 1);
        c.rate.high = c.rate.median * (is_memory ? 1.1 : 1);
        c.rounds = 3;
    }
    const auto share_of_memory = [&] {
        const Placement p = place(row, ceilings, made::machine()).back();
        return p.bottlenecks.size() < 2 ? 0 : p.bottlenecks[1].share;
    };
    // Beyond t lie 1/2 - t / (2 sqrt(2 + t²)) of Student's distribution with two degrees of freedom; its interval
    // reaches to 6.205.
    const double t = std::log(apart) / std::log(1.1) * 6.205;
    CHECK(share_of_memory() == Approx(0.5 - t / (2 * std::sqrt(2 + t * t))).margin(0.04));
    for (Ceiling& c : ceilings.all) c.steadiness = Steadiness::at_least;
    CHECK(share_of_memory() ==
          Approx(0.5 * std::erfc(std::log(apart) / std::log(1.1) * 1.96 / std::sqrt(2.0))).margin(0.04));
}

TEST_CASE("a confident bottleneck is right in at least 95 of 100 calibrations, at three levels of noise")
{
    for (const double noise : {0.02, 0.1, 0.3}) {
        std::mt19937_64 random(7);
        std::normal_distribution<double> normal;
        int claimed = 0, right = 0;
        for (int i = 0; i < 400; ++i) {
            const double sigma = std::log(1 + noise) / 1.96;
            const double off = std::exp(sigma * (normal(random) - normal(random)));
            const double truth = std::exp(2 * sigma * normal(random));
            const Placement p = placed(0.010 * truth * off, 0.010, noise);
            if (!is_confident(p)) continue;
            ++claimed;
            right += (p.bottlenecks[0].roof == "fp32") == (truth > 1) ? 1 : 0;
        }
        INFO(noise);
        REQUIRE(claimed > 40);
        CHECK(right >= 0.95 * claimed);
    }
}

TEST_CASE("without ceilings there is no bottleneck")
{
    const Placement p = place(made::row(), {}, made::machine()).front();
    CHECK(p.bottlenecks.empty());
    CHECK(bottleneck_text(p).empty());
}

TEST_CASE(
    "below half of its roof a short layer is launch-bound, and a layer as slow as single line fetches is latency-bound")
{
    Measurement row = made::row();
    row.parts = {made::part("tiny", "relu", Phase::forward, 10e-6, 10, 100, 100),
                 made::part("slow", "relu", Phase::forward, 0.020, 1e3, 25.6e6, 25.6e6),
                 made::part("poor", "convolution", Phase::forward, 0.040, 1e9, 2e6, 2e6)};
    Ceilings ceilings = made::ceilings();
    Ceiling latency = made::bandwidth("DRAM", 1, 1 / 100e-9);
    latency.kind = Role::latency;
    ceilings.all.push_back(latency);
    const std::vector<Placement> placements = place(row, ceilings, made::machine());
    const auto bound = [&](std::size_t layer) { return placements[placements.size() - 3 + layer].bound(); };
    CHECK(bound(0) == Bound::launch);
    CHECK(bound(1) == Bound::latency);
    CHECK(bound(2) == Bound::unexplained);
}
