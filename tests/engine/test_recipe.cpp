// Checks and remarks that all engines share.
#include "ert/base/error.hpp"
#include "workloads/engine/step.hpp"
#include "workloads/engine/train_bench.hpp"

#include <catch2/catch.hpp>

#include <limits>

using namespace roof;
using namespace roof::engine;

TEST_CASE("A loss that is not finite, or a first loss far above guessing, is an error")
{
    CHECK_NOTHROW(check_losses(engine::Parameters::random, 1000, 6.9, 5.0));
    CHECK_NOTHROW(check_losses(engine::Parameters::random, 1000, std::nullopt, 5.0));
    CHECK_THROWS_AS(check_losses(engine::Parameters::random, 1000, 6.9, std::numeric_limits<double>::quiet_NaN()),
                    Error);
    CHECK_THROWS_AS(check_losses(engine::Parameters::random, 1000, 60, 5.0), Error);
    CHECK_NOTHROW(check_losses(engine::Parameters::hashed, 1000, 60, 5.0));
}

TEST_CASE("A learning rate that is negative or not finite is refused before anything is measured")
{
    const auto with_rate = [](const std::string& rate) {
        Point point;
        for (const auto& [axis, value] : {std::pair{"model", "alexnet"}, {"data", "synthetic"}}) point.set(axis, value);
        point.set("lr", rate);
        return point;
    };
    CHECK_NOTHROW(require_legal(with_rate("0.01")));
    for (const char* rate : {"nan", "inf", "-1", "1e999"}) CHECK_THROWS_AS(require_legal(with_rate(rate)), InputError);
}

TEST_CASE("Tokens beyond the positions of a network are refused before anything is measured")
{
    Point point;
    for (const auto& [axis, value] :
         {std::pair{"model", "gpt2"}, {"data", "synthetic"}, {"lr", "0.1"}, {"tokens", "5000"}})
        point.set(axis, value);
    CHECK_THROWS_WITH(require_legal(point), Catch::Contains("gpt2 has 1024 positions, fewer than 5000 tokens"));
}

TEST_CASE("FLOPs that an implementation saves are subtracted from the executed FLOPs")
{
    const model::Graph graph = model::build_model("alexnet");
    std::vector<TimedPart> parts(2);
    parts[0].work = {.flops = {100}, .compulsory = {10}, .no_reuse = {20}};
    parts[0].work.executed = Flops{40};
    parts[1].work = {.flops = {50}, .compulsory = {1}, .no_reuse = {2}};
    const Work work = step_work(graph, 1, Precision::fp32, parts);
    CHECK(work.executed == work.flops - Flops{60});
    CHECK(work.compulsory == Bytes{11});
    CHECK(work.no_reuse == Bytes{22});
    parts[0].work.executed = {};
    CHECK(step_work(graph, 1, Precision::fp32, parts).executed == Flops{});
}

TEST_CASE("Ranks whose clocks are more than 2% apart differ, by their medians")
{
    CHECK(remarks_on_clocks({}).empty());
    CHECK(remarks_on_clocks({{0, 0}, {1.98e9, 0}}).empty());  // not known
    const std::vector<std::vector<double>> near{{1.98e9, 1.95e9}, {1.98e9, 1.2e9}, {1.98e9, 1.95e9}};
    CHECK(remarks_on_clocks(near) ==
          std::vector<std::string>{"the clocks of all ranks were from 1.95 GHz to 1.98 GHz"});
    CHECK(remarks_on_clocks({{1.98e9, 1.94e9}}) ==
          std::vector<std::string>{"the ranks' clocks differ, rank 1 at 1.94 GHz and rank 0 at 1.98 GHz: what the "
                                   "faster wait for the slower counts as exposed communication"});
}

TEST_CASE("Broken images are counted, and the first five are named")
{
    CHECK(remarks_on({}).empty());
    const std::vector<std::string> remarks =
        remarks_on({.images = 9, .classes = 2, .skipped = {"a: x", "b: x", "c: x", "d: x", "e: x", "f: x"}});
    REQUIRE(remarks.size() == 1);
    CHECK_THAT(remarks[0], Catch::StartsWith("6 broken image file(s) skipped: a: x"));
    CHECK_THAT(remarks[0], !Catch::Contains("f: x"));
}
