#include "analysis/study/compared/compare.hpp"
#include "analysis/table/fitted_text.hpp"
#include "ert/base/error.hpp"
#include "ert/base/text.hpp"
#include "made.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <cmath>

using namespace roof;
using namespace roof::analysis;

namespace {

Measurement slowed(double factor, int samples = 9)
{
    Measurement row = made::row();
    row.seconds = made::about<Seconds>(0.040 * factor);
    row.seconds.n = samples;
    return row;
}

/// Of two processes.
Measurement in_two(double factor)
{
    Measurement row = slowed(factor);
    row.samples = {{.used = false}, {}, {.used = false}, {}};
    return row;
}

/// Beside a second run of a that took as long.
Comparison of(const Measurement& a, const Measurement& b)
{
    const Study first = made::study({a});
    Comparison comparison = compare(first, made::study({b}));
    set_noise(comparison, first, first);
    return comparison;
}

}  // namespace

TEST_CASE("the interval of a ratio combines both sides as independent, on the logarithmic scale")
{
    const Change change = change_of({"x"}, "s", {2, 1.8, 2.2, 9}, {3, 2.4, 3.9, 9});
    CHECK(change.ratio.median == Approx(1.5));
    CHECK(change.ratio.low == Approx(1.5 * std::exp(-std::hypot(std::log(3 / 2.4), std::log(2.2 / 2)))));
    CHECK(change.ratio.high == Approx(1.5 * std::exp(std::hypot(std::log(3.9 / 3), std::log(2 / 1.8)))));
}

TEST_CASE("a row compared with itself shows no difference")
{
    const Comparison same = of(slowed(1), slowed(1));
    REQUIRE(same.steps.size() == 1);
    CHECK(same.steps[0].ratio.median == 1);
    CHECK_FALSE(same.steps[0].shown());
    CHECK(to_text(same).find("no difference shown") != std::string::npos);
}

TEST_CASE("a difference inside the intervals is not shown, one outside is")
{
    CHECK_FALSE(of(slowed(1), slowed(1.1)).steps[0].shown());
    const Comparison slower = of(slowed(1), slowed(1.5));
    CHECK(slower.steps[0].shown());
    CHECK(to_text(slower).find("b is slower") != std::string::npos);
    CHECK(to_text(of(slowed(1.5), slowed(1))).find("b is faster") != std::string::npos);
}

TEST_CASE("steps of one launch each are not judged, but for who says what launches may differ by")
{
    const Comparison once = compare(made::study({slowed(1)}), made::study({slowed(1.5)}));
    CHECK_FALSE(once.steps[0].shown());
    CHECK(verdict_of(once.steps[0]) == "one launch each: not judged");
    CHECK_THAT(to_text(once, 120), Catch::Contains("0 of 1 step differ; 1 not judged: one launch each"));
    CHECK(to_json(once)["steps_not_judged"] == 1);
    CHECK(slower_than(once, 0.05).size() == 1);
    CHECK(slower_than(once, 0.6).empty());
}

TEST_CASE("steps of several processes a side are judged by the spread between these")
{
    const auto of_looks = [](const Measurement& row) { return made::study({row}, made::seen_twice()); };
    const Comparison twice = compare(of_looks(in_two(1)), of_looks(in_two(1.5)));
    CHECK(verdict_of(twice.steps[0]) == "slower");
    CHECK(to_json(twice)["steps_not_judged"] == 0);
    CHECK(to_json(twice)["steps"][0]["a"]["processes"] == 2);
    CHECK(verdict_of(compare(of_looks(in_two(1)), of_looks(in_two(1.1))).steps[0]) == "no difference shown");
    CHECK(verdict_of(compare(of_looks(in_two(1)), of_looks(slowed(1.5))).steps[0]) == "one launch each: not judged");
}

TEST_CASE("steps whose machine was seen at one time are not judged without a second run")
{
    const Study a = made::study({in_two(1)}), b = made::study({in_two(1.5)});
    Study later = made::study({in_two(1.5)}, made::seen_twice());
    CHECK(verdict_of(compare(a, later).steps[0]) == "slower");  // one machine
    CHECK(verdict_of(compare(later, a).steps[0]) == "faster");
    later.results.machine.host = "another";
    CHECK(verdict_of(compare(a, later).steps[0]) == "at one time each: not judged");
    Comparison once = compare(a, b);
    CHECK(verdict_of(once.steps[0]) == "at one time each: not judged");
    CHECK_THAT(to_text(once, 120), Catch::Contains("0 of 1 step differ; 1 not judged: at one time each"));
    CHECK(to_json(once)["steps"][0]["verdict"] == "at one time each: not judged");
    CHECK(to_json(once)["steps"][0]["a"]["half_width_between_times"].is_null());
    CHECK(slower_than(once, 0.05).size() == 1);
    set_noise(once, a, a);
    CHECK(verdict_of(once.steps[0]) == "slower");
}

TEST_CASE("what the roofs of a step differ by between times widens its ratio, each by its share of the least time")
{
    Ceilings roofs = made::seen_twice(0.1);
    for (Ceiling& ceiling : roofs.all)
        if (ceiling.kind == Role::compute) ceiling.between = 0.02;
    const Study a = made::study({in_two(1)}, roofs);
    // 15 ms by fp32 (10 and 5), 1.8 ms by DRAM (0.8 and 1).
    const double half = (15 * 0.02 + 1.8 * 0.1) / 16.8;
    CHECK(between_times(a).at(a.results.rows[0].id()) == Approx(half));
    const Change change = compare(a, a).steps[0];
    const double own = std::hypot(std::log(1.1), std::log(1 / 0.9));
    CHECK(change.ratio.high == Approx(std::exp(std::hypot(own, std::hypot(half, half)))));
    CHECK(change.ratio.low == Approx(std::exp(-std::hypot(own, std::hypot(half, half)))));
    CHECK(to_json(compare(a, a))["steps"][0]["b"]["half_width_between_times"] == Approx(half));

    for (Ceiling& ceiling : roofs.all)
        if (ceiling.level == "DRAM") ceiling.between.reset();
    const Study without = made::study({in_two(1)}, roofs);
    CHECK(between_times(without).empty());
    // By the roofs the machine's speed is that of then.
    CHECK(verdict_of(compare(without, without, Judged::by_roofs).steps[0]) == "no difference shown");
}

TEST_CASE("a step is not slower where what its busy machine cost closes the gap")
{
    const auto busy = [](double factor, double waited) {
        Measurement row = slowed(factor);
        row.host.waited = waited;
        return row;
    };
    CHECK(verdict_of(of(slowed(1), busy(2, 0.1)).steps[0]) == "slower");  // 1.73 at least, 1.56 without the cost
    CHECK(verdict_of(of(slowed(1), busy(2, 0.5)).steps[0]) == "not told apart: a busy machine");
    CHECK(verdict_of(of(busy(2, 0.5), slowed(1)).steps[0]) == "not told apart: a busy machine");
    CHECK(verdict_of(of(busy(1, 0.5), slowed(2)).steps[0]) == "slower");  // the faster one was busy
    CHECK(slower_than(of(slowed(1), busy(2, 0.5)), 0.05).empty());
    Measurement shared = slowed(2);
    shared.host.shared = 0.7;  // of which the cost is not known
    CHECK(verdict_of(of(slowed(1), shared).steps[0]) == "not told apart: a busy machine");
}

TEST_CASE("too few samples on one side show no difference")
{
    const Comparison few = of(slowed(1, 4), slowed(3));
    CHECK_FALSE(few.steps[0].shown());
    CHECK(to_text(few, 120).find("too few samples to tell (4 and 9)") != std::string::npos);
    CHECK(of(slowed(1, 5), slowed(3)).steps[0].shown());
}

TEST_CASE("rows on one side only and rows that are not ok are listed")
{
    const Comparison c = compare(made::study({made::row("net"), made::row("old")}),
                                 made::study({made::row("net"), made::failed("net", "full")}));
    CHECK(c.steps.size() == 1);
    CHECK(c.only_a == std::vector<std::string>{made::row("old").id()});
    CHECK(c.only_b.empty());
    CHECK(to_text(c).find("Measured only in a:") != std::string::npos);
}

TEST_CASE("common ceilings are compared, and a higher rate is faster")
{
    Ceilings faster = made::ceilings();
    for (Ceiling& ceiling : faster.all) ceiling.rate = made::about<Hertz>(2 * ceiling.rate.median.value);
    faster.all.pop_back();
    const Comparison c = compare(made::study({made::row()}), made::study({made::row()}, faster));
    CHECK(c.ceilings.size() == 9);
    CHECK(c.ceilings[0].ratio.median == Approx(2));
    CHECK(to_text(c).find("b is faster") != std::string::npos);
}

TEST_CASE("a comparison as JSON has ratios, intervals and verdicts")
{
    const nlohmann::json json = to_json(of(slowed(1), slowed(1.5)));
    CHECK(json["steps"][0]["ratio"]["median"].get<double>() == Approx(1.5));
    CHECK(json["steps"][0]["difference_shown"] == true);
    CHECK(json["steps"][0]["verdict"] == "b is slower");
    CHECK(json["only_a"].empty());
}

TEST_CASE("drift names only the ceilings that moved beyond their intervals")
{
    Ceilings later = made::ceilings();
    later.all[0].rate = made::about<Hertz>(2 * later.all[0].rate.median.value);
    const Comparison c = compare(made::study({}), made::study({}, later));
    REQUIRE(moved(c).size() == 1);
    CHECK(moved(c)[0].id() == "cpu bandwidth L1 load threads=1");
    CHECK_THAT(drift_text(c), Catch::StartsWith("drift since results/made/run: 1 of 10 ceilings moved beyond its") &&
                                  Catch::Contains("L1 load threads=1"));
    CHECK_THAT(drift_text(c), !Catch::Contains("DRAM"));
    CHECK_THAT(to_text(c), Catch::Contains("1 of 10 ceilings moved beyond its interval"));
    CHECK_THAT(to_text(c), !Catch::Contains("No step"));  // of two calibrations
    const nlohmann::json json = drift_json(c);
    CHECK(json["compared"] == 10);
    CHECK(json["moved"][0]["verdict"] == "b is faster");
}

TEST_CASE("a ceiling moved only by more than the machine's other times differ by")
{
    const auto later = [](double factor) {
        Ceilings roofs = made::ceilings();
        roofs.all[0].rate = made::about<Hertz>(factor * roofs.all[0].rate.median.value);
        roofs.all[0].between_others = 0.2;
        roofs.all[0].between = 0.9;  // with the time of this calibration itself, which would hide what it lost
        return compare(made::study({}), made::study({}, roofs));
    };
    // The other times tell of both sides: sqrt(2) times 0.2 is 0.28, of 0.22 and 0.69.
    CHECK(moved(later(0.8)).empty());
    CHECK(moved(later(0.5)).size() == 1);
    const Change change = moved(later(0.5)).front();
    const double own = std::hypot(std::log(1.1), std::log(1 / 0.9));
    CHECK(change.ratio.high == Approx(0.5 * std::exp(std::hypot(own, std::hypot(0.2, 0.2)))));
}

TEST_CASE("drift without changed ceilings is one line")
{
    const Comparison c = compare(made::study({}), made::study({}));
    CHECK(drift_text(c) == "drift since results/made/run: none of 10 ceilings moved beyond its interval\n");
}

TEST_CASE("ceilings of levels are compared by condition, not by instruction set")
{
    Ceilings other = made::ceilings();
    other.all[0].isa = "avx512";
    other.all[1].condition = "small pages";
    CHECK(compare(made::study({}), made::study({}, other)).ceilings.size() == 9);
}

TEST_CASE("a lower bound shows what is faster than it, and never what is slower")
{
    const auto dram_at = [](double rate, Steadiness steadiness) {
        Ceilings all = made::ceilings();
        std::erase_if(all.all, [](const Ceiling& ceiling) { return ceiling.level != "DRAM"; });
        all.all.resize(1);
        all.all[0].rate = made::about<Hertz>(rate);
        all.all[0].rate.n = 9;
        all.all[0].steadiness = steadiness;
        return made::study({made::row()}, all);
    };
    const Study bound = dram_at(50e9, Steadiness::at_least);
    const Study twice = dram_at(100e9, Steadiness::steady);
    const Comparison open = compare(bound, twice);
    REQUIRE(open.ceilings.size() == 1);
    CHECK_FALSE(open.ceilings[0].shown());  // what is at least 50 GB/s may be 100 GB/s
    CHECK(to_json(open)["ceilings"][0]["verdict"] == "a lower bound does not tell");
    CHECK(to_json(open)["ceilings"][0]["a"]["high"].is_null());
    CHECK_THAT(to_text(open), Catch::Contains("none of 1 ceilings was judged: too few samples, or a lower bound"));
    CHECK(moved(compare(twice, bound)).empty());
    const Study half = dram_at(25e9, Steadiness::steady);
    CHECK_THAT(to_text(compare(half, bound), 200),
               Catch::Contains("b is faster") && Catch::Contains("\u2265 50.0 GB/s") && Catch::Contains(", ?]"));
}

TEST_CASE("of ceilings of one name the fastest is compared, which is the roof")
{
    Ceilings both = made::ceilings();
    std::erase_if(both.all, [](const Ceiling& ceiling) { return ceiling.level != "DRAM"; });
    both.all.resize(1);
    both.all.push_back(both.all[0]);
    both.all[1].isa = "bulk";
    both.all[1].rate = made::about<Hertz>(2 * both.all[0].rate.median.value);
    const Study study = made::study({made::row()}, both);
    const Comparison same = compare(study, study);
    REQUIRE(same.ceilings.size() == 1);
    CHECK(same.ceilings[0].a.median == both.all[1].rate.median.value);
}

TEST_CASE("a difference below that of two runs of the same plan is not shown")
{
    const Study a = made::study({slowed(1)});
    Comparison faint = compare(a, made::study({slowed(1.3)}));
    CHECK(faint.steps[0].differs());
    CHECK(slower_than(faint, 0.05).size() == 1);
    set_noise(faint, a, made::study({slowed(1.4)}));
    CHECK(faint.floor == Approx(std::log(1.4)));
    CHECK_FALSE(faint.steps[0].shown());
    CHECK(slower_than(faint, 0.05).empty());
    Comparison clear = compare(a, made::study({slowed(2)}));
    set_noise(clear, a, made::study({slowed(1.4)}));
    CHECK(clear.steps[0].shown());
}

TEST_CASE("a step is slower than allowed only by more than the share, and in the right direction")
{
    CHECK(slower_than(of(slowed(1), slowed(1.5)), 0.6).empty());
    CHECK(slower_than(of(slowed(1), slowed(1.5)), 0.4).size() == 1);
    CHECK(slower_than(of(slowed(1.5), slowed(1)), 0).empty());
}

TEST_CASE("a second run without a common step gives no noise floor")
{
    Comparison comparison = of(slowed(1), slowed(1));
    CHECK_THROWS_AS(set_noise(comparison, made::study({slowed(1)}), made::study({})), InputError);
}

TEST_CASE("in 80 columns each comparison fits, has the common words once, and keeps rows distinct")
{
    std::vector<Measurement> rows;
    for (const char* batch : {"8", "16"}) {
        rows.push_back(made::row("a_model_of_some_length"));
        rows.back().point.set("batch", batch);
        rows.back().point.set("algorithm", "winograd");
        rows.back().point.set("parameters", "seeded");
    }
    const Comparison c = compare(made::study(rows), made::study(rows));
    const std::string text = to_text(c, 80);
    for (const std::string& line : split(text, '\n')) {
        INFO(line);
        CHECK(display_columns(line) <= 80);
    }
    CHECK_THAT(text, Catch::Contains("All: ") && Catch::Contains("batch=8 ") && Catch::Contains("batch=16 "));
    CHECK_THAT(text, Catch::Contains("one launch each: not judged") && Catch::Contains("1.000"));
}

TEST_CASE("ceilings without enough samples are counted as not judged, and never as unmoved")
{
    Ceilings few = made::ceilings();
    for (Ceiling& ceiling : few.all) ceiling.rate.n = 2;
    const Comparison none = compare(made::study({}), made::study({}, few));
    CHECK_THAT(to_text(none), Catch::Contains("none of 10 ceilings was judged: too few samples"));
    few.all[0].rate.n = 9;
    const Comparison one = compare(made::study({}), made::study({}, few));
    CHECK_THAT(to_text(one), Catch::Contains("none of 10 ceilings moved beyond its interval; 9 not judged"));
    CHECK(to_json(one)["ceilings_not_judged"] == 9);
}

TEST_CASE("steps come first, the largest difference first, and only ceilings that moved have lines")
{
    Ceilings later = made::ceilings();
    later.all[0].rate = made::about<Hertz>(2 * later.all[0].rate.median.value);
    std::vector<Measurement> a, b;
    for (const auto& [model, factor] : {std::pair{"same", 1.0}, {"twice", 2.0}, {"thrice", 3.0}}) {
        a.push_back(made::row(model));
        b.push_back(made::row(model));
        b.back().seconds = made::about<Seconds>(0.040 * factor);
    }
    Comparison c = compare(made::study(a), made::study(b, later));
    set_noise(c, made::study(a), made::study(a));
    const std::string text = to_text(c, 80);
    CHECK(text.find("model=thrice") < text.find("model=twice"));
    CHECK(text.find("model=twice") < text.find("model=same"));
    CHECK(text.find("model=same") < text.find("L1 load"));
    CHECK_THAT(text, Catch::Contains("2 of 3 steps differ") && !Catch::Contains("DRAM"));
    for (const std::string& line : split(text, '\n')) CHECK(display_columns(line) <= 80);
}

TEST_CASE("without a terminal a comparison has the columns of a wide one")
{
    Measurement slow = made::row();
    slow.seconds = made::about<Seconds>(0.080);
    const Comparison c = compare(made::study({made::row()}), made::study({slow}));
    CHECK_THAT(to_text(c), Catch::Contains("a [95%]") && Catch::Contains("b [95%]") && Catch::Contains("interval"));
    CHECK(to_text(c) == to_text(c, 500));
}

TEST_CASE("steps of the same plan on two machines of different size are matched without their threads")
{
    Study other = made::study({made::row("net", 8, 64)});
    other.results.machine.name = "other";
    other.results.machine.threads = 64;
    const Comparison c = compare(made::study({made::row("net", 8, 2)}), other);
    CHECK(c.steps.size() == 1);
    CHECK(c.only_a.empty());
    CHECK(compare(made::study({made::row("net", 8, 2)}), made::study({made::row("net", 8, 64)})).steps.empty());
}
