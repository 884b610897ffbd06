// Steps beside the roofs of their own calibration. Made machines have round numbers. The recorded ones are of three
// kinds: there the program is the probe "ert", a loop of known FLOPs and bytes that the same calibration timed, and
// whose rate is no roof.
#include "analysis/study/compared/compare.hpp"
#include "ert/base/error.hpp"
#include "ert/method/results/results.hpp"
#include "made.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <cmath>

using namespace roof;
using namespace roof::analysis;
using Catch::Contains;

namespace {

/// The made step and machine, on which both are so many times as fast.
Study faster(double step, double machine)
{
    Measurement row = made::row();
    row.seconds = made::about<Seconds>(0.040 / step);
    row.parts.clear();
    Ceilings roofs = made::ceilings();
    for (Ceiling& c : roofs.all) c.rate = made::about<Hertz>(machine * c.rate.median.value);
    return made::study({row}, roofs);
}

constexpr double program_flops = 1e9;

/// The program whose loop does `intensity` FLOPs to the byte over memory, with all threads: a step of one GFLOP.
Study recorded(const std::string& folder, const std::string& intensity)
{
    Results results = read_results(folder);
    const Measurement* loop = nullptr;
    for (const Measurement& row : results.rows) {
        if (row.bench != "ert" || row.status != Status::ok || row.point.text("intensity") != intensity ||
            row.point.integer("threads") != 2)
            continue;
        const double bytes = row.point.number("working_set");
        const double largest = loop == nullptr ? 0 : loop->point.number("working_set");
        if (bytes > largest ||
            (bytes == largest && row.seconds.median / row.work.flops < loop->seconds.median / loop->work.flops))
            loop = &row;
    }
    REQUIRE(loop != nullptr);
    const double times = program_flops / loop->work.flops.value;
    Measurement step = *loop;
    step.role = Role::step;
    step.bench = "program";
    step.point = {};
    for (const auto& [axis, value] :
         {std::pair{"model", "loop"}, {"batch", "1"}, {"precision", "fp64"}, {"threads", "2"}})
        step.point.set(axis, value);
    step.work = {{program_flops}, loop->work.compulsory * times, loop->work.no_reuse * times, Known::analytic};
    step.work.read = step.work.compulsory;
    step.seconds = {loop->seconds.median * times, loop->seconds.low * times, loop->seconds.high * times,
                    loop->seconds.n, 0};
    Results run{"run", results.machine, "", {step}};
    return make_study(std::move(run), std::move(results));
}

double ratio_of(const Study& a, const Study& b, Judged judged)
{
    const Comparison c = compare(a, b, judged);
    REQUIRE(c.steps.size() == 1);
    return c.steps.front().ratio.median;
}

}  // namespace

TEST_CASE("a machine that is twice as fast is no change of the program by the roofs")
{
    CHECK(compare(faster(1, 1), faster(2, 2)).steps[0].ratio.median == Approx(0.5));
    const Comparison c = compare(faster(1, 1), faster(2, 2), Judged::by_roofs);
    CHECK(c.steps[0].ratio.median == Approx(1));
    CHECK_FALSE(c.steps[0].shown());
    CHECK(slower_than(c, 0.05).empty());
    CHECK_THAT(to_text(c), Contains("step time over the least"));
}

TEST_CASE("a program that became slower is slower by the roofs, on a faster machine too")
{
    const Comparison c = compare(faster(1, 1), faster(1, 3), Judged::by_roofs);
    CHECK(c.steps[0].ratio.median == Approx(3));
    REQUIRE(slower_than(c, 0.05).size() == 1);
    CHECK(verdict_of(c.steps[0]) == "one launch each: not judged");
    CHECK(slower_than(compare(faster(1, 1), faster(1, 3)), 0.05).empty());
    CHECK(to_json(c)["judged"] == "by roofs");
}

TEST_CASE("the intervals of the roofs widen that of a step")
{
    const Study study = faster(1, 1);
    const Measurement& row = study.results.rows[0];
    const auto side = times_the_least(study, row);
    REQUIRE(side);
    // fp32: 1.504e9 FLOP at 100 GFLOP/s; DRAM: 24e6 B at 10 GB/s
    CHECK(side->median == Approx(0.040 / 0.01504));
    CHECK(side->n == 9);
    CHECK(side->low < side->median * 0.9);
    CHECK(side->high > side->median * 1.1);
    CHECK(side->low > side->median * 0.8);
    CHECK(side->high < side->median * 1.25);
}

TEST_CASE("a step that others slowed is not slower than its time without them")
{
    Study busy = faster(0.5, 1);
    REQUIRE(slower_than(compare(faster(1, 1), busy, Judged::by_roofs), 0.25).size() == 1);
    busy.results.rows[0].host.waited = 0.6;  // twice the time, of which 40% are left
    const Comparison c = compare(faster(1, 1), busy, Judged::by_roofs);
    CHECK(c.steps[0].ratio.median == Approx(2));
    CHECK(c.steps[0].ratio.low < 0.8);
    CHECK(slower_than(c, 0.25).empty());
    CHECK_THAT(to_text(c), Contains("a thread waited 60% of the time"));
    busy.results.rows[0].host = {};
    busy.results.rows[0].host.others = 1.5;  // what it cost is not known
    CHECK(slower_than(compare(faster(1, 1), busy, Judged::by_roofs), 0.25).empty());
}

TEST_CASE("without a calibration nothing is judged by roofs; an old one is noted, and so are steps without roofs")
{
    Study none = faster(1, 1);
    none.calibration.folder.clear();
    CHECK_THROWS_WITH(compare(faster(1, 1), none, Judged::by_roofs), Contains("has no calibration"));

    Study old = faster(1, 1);
    old.calibration.rows.push_back(made::row());
    old.calibration.rows.back().started = "2026-02-27T23:30:00Z";
    old.results.rows.front().started = "2026-03-01T01:00:00Z";  // a day and a half hour and an hour later
    CHECK_THAT(to_text(compare(old, old, Judged::by_roofs)), Contains("26 hours") || Contains("25 hours"));
    old.results.rows.front().started = "2026-02-28T00:10:00Z";
    CHECK_THAT(to_text(compare(old, old, Judged::by_roofs)), !Contains("calibrate in the same job"));

    Study unplaced = faster(1, 1);
    unplaced.placements.clear();
    const Comparison c = compare(unplaced, faster(1, 1), Judged::by_roofs);
    CHECK(c.steps.empty());
    CHECK(c.without_roofs == std::vector<std::string>{"train cpu model=net batch=8 precision=fp32 threads=2"});
}

TEST_CASE("a loop bound by FLOPs on three kinds of machine differs by twice, and by the roofs by a seventh at most")
{
    // The fastest round of each: 113, 156 and 232 GFLOP/s (measurements.csv, bench ert, intensity 16).
    const std::vector<std::string> folders{ROOF_RECORDED "/epyc-zen4-6", ROOF_RECORDED "/xeon-emerald-rapids-1",
                                           ROOF_EXAMPLES "/amd-epyc-family26-2cpu/2026-11-22T063430Z-e998eee9d186"};
    std::vector<Study> studies;
    for (const std::string& folder : folders) studies.push_back(recorded(folder, "16"));
    CHECK(ratio_of(studies[2], studies[0], Judged::by_time) == Approx(232.0 / 113).epsilon(0.01));
    CHECK(ratio_of(studies[1], studies[0], Judged::by_time) == Approx(156.0 / 113).epsilon(0.01));
    for (const Study& a : studies)
        for (const Study& b : studies) {
            INFO(a.results.machine.name << " and " << b.results.machine.name);
            CHECK(ratio_of(a, b, Judged::by_roofs) < 1.15);
            CHECK(slower_than(compare(a, b, Judged::by_roofs), 0.25).empty());
            Study slow = b;  // the program takes half as long again
            for (Estimate<Seconds>* seconds : {&slow.results.rows[0].seconds})
                *seconds = {1.5 * seconds->median, 1.5 * seconds->low, 1.5 * seconds->high, seconds->n, 0};
            CHECK(slower_than(compare(a, slow, Judged::by_roofs), 0.25).size() == 1);
        }
}

TEST_CASE("AlexNet's steps on two kinds of machine of one size are matched by their threads")
{
    const std::string examples = std::string(ROOF_TEST_DATA) + "/../../results/examples/";
    const Study epyc = open_study(examples + "amd-epyc-family26-2cpu/2026-11-22T063448Z-e998eee9d186");
    const Study xeon = open_study(examples + "intel-xeon-processor-family6-2cpu/2026-11-24T092528Z-1334ddf78021");
    const Comparison by_time = compare(epyc, xeon);
    REQUIRE(by_time.steps.size() == 2);  // batches 4 and 8 with two threads: 73.08 and 107.10 ms, 68.18 and 106.50 ms
    CHECK(by_time.steps[0].ratio.median == Approx(68.18 / 73.08).epsilon(1e-3));
    CHECK(by_time.steps[1].ratio.median == Approx(106.50 / 107.10).epsilon(1e-3));
    CHECK(compare(epyc, xeon, Judged::by_roofs).steps.size() == 2);
}
