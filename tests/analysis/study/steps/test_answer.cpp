// What binds a step, and what is most worthwhile to do about it.
#include "analysis/study/exports/export.hpp"
#include "analysis/study/steps/answer.hpp"
#include "analysis/study/steps/verdict.hpp"
#include "analysis/study/tables.hpp"
#include "analysis/table/rows.hpp"
#include "made.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace roof;
using namespace roof::analysis;

namespace {

/// A step of 40 ms: a convolution for `compute` ms at the fp32 roof, a ReLU for `memory` ms at DRAM's, and nothing
/// else.
Measurement step(double compute, double memory)
{
    Measurement row = made::row();
    row.parts = {made::part("conv", "convolution", Phase::forward, 1e-3 * compute, 1e8 * compute, 2e6, 2e6),
                 made::part("relu", "relu", Phase::forward, 1e-3 * memory, 1e3, 1e7 * memory, 1e7 * memory)};
    return row;
}

StepAnswer answer(std::vector<Measurement> rows)
{
    const Study study = made::study(std::move(rows));
    return answer_of(study, study.results.rows.front());
}

}  // namespace

TEST_CASE("the headline names the roof under which the step spends most of its time")
{
    CHECK(answer({step(33.2, 1)}).headline == "compute-bound: 83% of the time under the fp32 roof");
    CHECK(answer({step(1, 26)}).headline == "memory-bound (DRAM): 65% of the time under the DRAM roof");
    CHECK(answer({step(22, 12)}).headline == "mixed: 55% compute, 30% DRAM, 15% outside the layers");
    const Study mixed = made::study({step(22, 12)});
    CHECK(bound_of(mixed, mixed.results.rows.front()) == "mixed: 55% compute, 30% DRAM");
}

TEST_CASE(
    "the sentence of several steps counts their bounds, the most frequent first, and names the nearest and the "
    "farthest")
{
    // Of 40 ms the roofs allow 28, 34 and 31.
    Measurement small = step(2, 26), large = step(30, 1);
    small.point.set("batch", "4");
    large.point.set("batch", "16");
    const Study sweep = made::study({small, step(33, 1), large});
    CHECK(steps_sentence(sweep, measured_steps(sweep.results.rows)) ==
          "3 steps of net in fp32 on cpu, 2 threads: 2 compute-bound, 1 memory-bound. Nearest to its roofs: net b8 "
          "(85%); "
          "farthest: net b4 (70%).");
    CHECK(steps_sentence(sweep, {}).empty());
}

TEST_CASE("the sentence says what binds, what the roofs are worth, and from which batch on another bound holds")
{
    // 33.2 ms at 100 GFLOP/s and 1 ms at 10 GB/s: both layers are at their roofs, and 5.8 of 40 ms are outside.
    const Study alone = made::study({step(33.2, 1)});
    CHECK(answer_sentence(alone, alone.results.rows[0]) ==
          "net, batch 8, fp32 on cpu, 2 threads is compute-bound: 83% of the time under the fp32 roof. A step takes "
          "40.0 ms; at its roofs it would take 34.2 ms.");
    Measurement small = step(1, 26), large = step(30, 1);
    small.point.set("batch", "4");
    large.point.set("batch", "16");
    const Study sweep = made::study({step(33.2, 1), small, large});
    for (const Measurement& row : sweep.results.rows)
        CHECK_THAT(answer_sentence(sweep, row), Catch::EndsWith(" From batch 8 on, compute binds."));
    Measurement updated = step(20, 1);
    updated.parts.push_back(made::part("SGD", "update", Phase::update, 0.015, 1e6, 1.5e8, 1.5e8));
    const Study heavy = made::study({updated});
    CHECK_THAT(answer_sentence(heavy, heavy.results.rows[0]),
               Catch::EndsWith(" Its update moves 150 MB for 8 images."));
    const Study bare = made::study({made::row()}, {});
    CHECK_THAT(answer_sentence(bare, bare.results.rows[0]), Catch::EndsWith(": no roof over it was measured."));
}

TEST_CASE("the headline names a nearer level where most of a level's time is of parts that caches may hold")
{
    Measurement row = made::row();
    row.seconds = made::about<Seconds>(60e-6);
    row.parts = {
        made::part("relu", "relu", Phase::forward, 50e-6, 1e3, 5e5, 5e5)};  // 50 us at DRAM's 10 GB/s; L2 holds 1 MiB
    CHECK(answer({row}).headline == "memory-bound (DRAM or a nearer level): 83% of the time under the DRAM roof");
}

TEST_CASE("an update is named once, not by its kind and its phase")
{
    Measurement row = step(10, 1);
    row.parts.push_back(made::part("SGD", "update", Phase::update, 0.020, 1e6, 1e6, 1e6));
    CHECK(answer({row}).actions.front().what == "update at its roofs");
}

TEST_CASE("the headline is communication or data where a step waits for them")
{
    Measurement row = step(10, 1);
    row.point.set("ranks", "2");
    row.exposed.median = {0.026};
    CHECK(answer({row}).headline == "communication-bound: 65% of the time is exposed communication");
    row = step(10, 1);
    row.data.median = {0.160};  // 160 of 200 ms
    CHECK(answer({row}).headline == "waiting for data: 80% of the time");
    CHECK(answer({row}).actions.front().what == "no wait for data");
    CHECK(answer({row}).actions.front().seconds.value == 0.160);
}

TEST_CASE("where most of the time is unexplained no roof binds, in the headline and in the table")
{
    Measurement bound = step(33.2, 1);
    bound.point.set("model", "other");
    const Study study = made::study({made::row(), bound});
    CHECK(answer_of(study, study.results.rows[0]).headline == "bound by neither roof: 60% unexplained");
    CHECK(bound_of(study, study.results.rows[0]) == "bound by neither roof");
    // Of the 39 ms, 1 ms is under a roof.
    CHECK(answer({step(0, 1)}).headline == "bound by neither roof: 0.0% unexplained and 98% outside the layers");
    CHECK(verdict_table(study).cell(0, "bound by").is_absent);
    CHECK(verdict_table(study).cell(1, "bound by").text == "fp32");
    Measurement unknown = step(0, 1);
    unknown.parts = {made::part("net", "program", Phase::forward, 0.039, 1e6, 0, 0)};
    CHECK(answer({unknown}).headline ==
          "its bytes are unknown: memory may bind what the compute roof does not explain");
    const Study bare = made::study({made::row()}, {});
    CHECK(answer_of(bare, bare.results.rows[0]).headline == "no roof over it was measured");
}

TEST_CASE("the actions are those that save the most seconds, with their sense and how they are known")
{
    const Study study = made::study({made::row(), made::failed("net", "full")});
    CHECK(answer_text(study, study.results.rows[0]) ==
          "bound by neither roof: 60% unexplained. Most worthwhile: convolution backward at its roofs saves up to 15.0 "
          "ms "
          "of its 40.0 ms (analytic); convolution update at its roofs: 3.00 ms (analytic); convolution forward at "
          "its roofs: up to 2.50 ms (analytic).");
    CHECK(answer_text(study, study.results.rows[1]).empty());
    const auto json = study_json(study)["rows"][0]["answer"];
    CHECK(json["headline"] == "bound by neither roof: 60% unexplained");
    REQUIRE(json["actions"].size() == 3);
    CHECK(json["actions"][0]["seconds"].get<double>() == Approx(0.015));
    CHECK(json["actions"][0]["sense"] == "up to");
    CHECK(study_json(study)["rows"][1]["answer"].is_null());
}

TEST_CASE("a measured step that differs in one option and is faster is an action")
{
    Measurement slow = made::row(), fast = made::row(), both = made::row(), larger = made::row("net", 16);
    slow.point.set("algorithm", "direct");
    fast.point.set("algorithm", "auto");
    both.point.set("algorithm", "fft");
    both.point.set("precision", "fp64");
    larger.point.set("algorithm", "direct");
    fast.seconds = made::about<Seconds>(0.010);
    both.seconds = made::about<Seconds>(0.001);
    larger.seconds = made::about<Seconds>(0.040);  // twice the images in the same time
    const std::vector<Action> actions = answer({slow, fast, both, larger}).actions;
    REQUIRE(actions.size() == 3);
    CHECK(actions[0].what == "algorithm auto instead of direct");
    CHECK(actions[0].seconds.value == Approx(0.030));
    CHECK(actions[0].known == "measured");
    CHECK(actions[1].what == "batch 16 instead of 8, for as many images");
    CHECK(actions[1].seconds.value == Approx(0.020));
}

TEST_CASE(
    "bf16 is predicted from its roof where no step of it was measured, the device trains in it and it is certainly "
    "faster")
{
    const auto first_of = [](const Measurement& row, double rate, Steadiness own, Steadiness other, const char* isa) {
        Ceilings roofs = made::ceilings();
        for (Ceiling& ceiling : roofs.all)
            if (ceiling.precision == "fp32") ceiling.steadiness = own;
        roofs.all.push_back(made::compute("bf16", 2, rate));
        roofs.all.back().steadiness = other;
        Study study = made::study({row}, roofs);
        study.results.machine.isa = {"scalar", isa};
        const std::vector<Action> actions = answer_of(study, study.results.rows.front()).actions;
        return actions.empty() ? Action{} : actions[0];
    };
    const auto first_action = [&](auto... of) { return first_of(step(30, 1), of...); };
    constexpr Steadiness steady = Steadiness::steady;
    const Action bf16 = first_action(200e9, steady, steady, "avx512");
    CHECK(bf16.what == "bf16 instead of fp32");
    CHECK(bf16.seconds.value == Approx(0.015));
    CHECK(bf16.known == "analytic");
    const auto is_told = [&](const Action& action) { return action.what == bf16.what; };
    CHECK(is_told(first_action(200e9, steady, Steadiness::at_least, "avx512")));
    CHECK_FALSE(is_told(first_action(200e9, steady, steady, "avx2")));                  // its layers need AVX-512
    CHECK_FALSE(is_told(first_action(200e9, Steadiness::at_least, steady, "avx512")));  // fp32 may be as fast
    CHECK_FALSE(is_told(first_action(115e9, steady, steady, "avx512")));  // 103.5 at least, where fp32 has up to 110

    // A decoded token reads half of the bytes: 18 ms in place of 36, and its products, 1 ms, take twice as long.
    Measurement token = step(1, 36);
    token.point.set("phase", "decode");
    const Action decoded = first_of(token, 50e9, Steadiness::at_least, steady, "avx2");
    CHECK(decoded.what == bf16.what);
    CHECK(decoded.seconds.value == Approx(0.017));
    CHECK_FALSE(is_told(first_of(token, 50e9, steady, steady, "sse")));
    token.point.set("phase", "prefill");
    CHECK_FALSE(is_told(first_of(token, 200e9, steady, steady, "avx2")));
}

TEST_CASE("a busy machine is an action where samples were disturbed")
{
    Measurement row = step(39, 1);
    row.samples.assign(4, row.samples.front());
    CHECK(answer({row}).actions.empty());
    row.samples[0].disturbance = "a core was shared";
    const std::vector<Action> actions = answer({row}).actions;
    REQUIRE(actions.size() == 1);
    CHECK(actions[0].what == "a quiet machine (1 of 4 samples disturbed: a core was shared)");
    CHECK(actions[0].seconds.value == Approx(0.004));  // 40 ms less the low end of 36 ms
}

TEST_CASE("of one rank, a busy machine is an action with what it cost")
{
    Measurement row = step(39, 1);
    row.samples.clear();
    row.host.waited = 0.25;
    const std::vector<Action> actions = answer({row}).actions;
    REQUIRE(actions.size() == 1);
    CHECK(actions[0].what == "a quiet machine");
    CHECK(actions[0].seconds.value == Approx(0.010));  // a quarter of 40 ms
    CHECK(actions[0].known == "counter");
    row.point.set("ranks", "2");  // wait for each other's processors
    CHECK(answer({row}).actions.empty());
}

TEST_CASE("layers that took longer than the step leave nothing outside them")
{
    Measurement row = step(33, 11);  // 44 ms of 40 ms
    const Study study = made::study({row});
    const DataTable table = breakdown_table(study);
    for (std::size_t i = 0; i < table.rows.size(); ++i) CHECK(std::get<double>(table.cell(i, "time_s").value) >= 0);
    CHECK(verdict_table(study).cell(0, "share_outside_layers").is_absent);
    CHECK(answer({row}).headline == "compute-bound: 75% of the time under the fp32 roof");
}

TEST_CASE("the table divides by the time that the answer divides by: the step, or its layers, and the wait for data")
{
    Measurement row = step(22, 14);  // 36 ms of layers in 40 ms
    row.exposed.median = {0.001};
    row.data.median = {0.004};
    CHECK(answer({row}).headline == "mixed: 50% compute, 32% DRAM");  // 22 and 14 of 44
    const Study study = made::study({row});
    const DataTable table = verdict_table(study);
    const auto share = [&](const char* column) { return std::get<double>(table.cell(0, column).value); };
    CHECK(share("share_compute_bound") == Approx(22. / 44));
    CHECK(share("share_bandwidth_bound") == Approx(14. / 44));
    CHECK(share("share_outside_layers") == Approx(3. / 44));
    CHECK(table.cell(0, "compute / bandwidth / unexplained").text == "50% / 32% / 0.0%");
    const std::string page = made::panel("verdict", study);
    CHECK_THAT(page, Catch::Contains("compute-bound 50%, bandwidth-bound 32%, outside the layers 6.8%, "
                                     "exposed communication 2.3%, waiting for data 9.1%\""));
    CHECK_THAT(page, Catch::Contains("<th scope=\"col\">step and wait bound by</th>"));
    CHECK_THAT(verdict_text(study, 4000), Catch::Contains("of the step and its wait for data"));
}

TEST_CASE("the breakdown has exposed communication apart from what is outside the layers, as the answer has")
{
    Measurement row = step(10, 2);  // 12 ms of layers in 40 ms
    row.exposed.median = {0.025};
    const std::vector<Segment> kinds = kinds_of(row);
    REQUIRE(kinds.size() == 4);
    CHECK(kinds[2].name == "exposed communication");
    CHECK(kinds[2].seconds == Approx(0.025));
    CHECK(kinds[3].name == "outside the layers");
    CHECK(kinds[3].seconds == Approx(0.003));
    row.exposed.median = {0.030};  // timed apart: no more than is left
    CHECK(kinds_of(row).back().seconds == Approx(0.028));
    CHECK(answer({row}).headline == "communication-bound: 75% of the time is exposed communication");
}

TEST_CASE("time for which the threads waited for a processor is not outside the layers")
{
    Measurement row = step(10, 2);  // 12 ms of layers in 40 ms
    row.host.waited = 0.6;          // 24 ms
    const std::vector<Segment> kinds = kinds_of(row);
    REQUIRE(kinds.size() == 4);
    CHECK(kinds[2].name == "waiting for a processor");
    CHECK(kinds[2].seconds == Approx(0.024));
    CHECK(kinds[3].seconds == Approx(0.004));
    const StepAnswer busy = answer({row});
    CHECK(busy.headline == "mixed: 60% waiting for a processor, 25% compute, 10% outside the layers");
    const auto action = [&](const std::string& what) { return std::ranges::find(busy.actions, what, &Action::what); };
    CHECK(action("a quiet machine")->seconds.value == Approx(0.024));
    CHECK(action("less time outside the layers")->seconds.value == Approx(0.004));
    row.host.waited = 0.9;  // 36 ms, of which the layers had some
    CHECK(kinds_of(row).back().name == "waiting for a processor");
    CHECK(kinds_of(row).back().seconds == Approx(0.028));
}
