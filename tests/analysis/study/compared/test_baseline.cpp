// A run beside its baseline: the points that belong together, the table of changes, and the arrows.
#include "analysis/study/compared/compare.hpp"

#include "made.hpp"

#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::analysis;

namespace {

/// A warm-up and a step of each of two processes.
Measurement in_two_processes()
{
    Measurement row = made::row();
    row.samples = {{.used = false}, {}, {.used = false}, {}};
    return row;
}

/// The step and its first layer take twice the time.
Measurement slower()
{
    Measurement row = in_two_processes();
    row.seconds = made::about<Seconds>(0.080);
    row.parts[0].seconds = made::about<Seconds>(0.025);
    return row;
}

}  // namespace

TEST_CASE("what took twice the time since the baseline is named slower, with both times and the ratio")
{
    const Study earlier = made::study({in_two_processes()}, made::seen_twice());
    Study now = made::study({slower()}, made::seen_twice());
    CHECK(baseline_table(now).rows.empty());
    now.baseline = &earlier;
    const DataTable table = baseline_table(now);
    REQUIRE(table.rows.size() == 5);  // the step and four layers; no ceiling moved
    CHECK(table.cell(0, "name").text == "net, batch 8, fp32 on cpu, 2 threads");
    CHECK(std::get<std::string>(table.cell(0, "name").value) == now.results.rows[0].id());
    CHECK(table.cell(0, "verdict").text == "slower");
    CHECK(table.cell(0, "before [95%]").text == "40.0 ms [36.0, 44.0]");
    CHECK(table.cell(0, "now [95%]").text == "80.0 ms [72.0, 88.0]");
    CHECK(table.cell(0, "now / before").text.starts_with("2.00 ["));
    CHECK(table.cell(1, "name").text == "conv1 forward");
    CHECK(table.cell(1, "verdict").text == "slower");
    CHECK(table.cell(2, "verdict").text == "no difference shown");
}

TEST_CASE(
    "a baseline is judged as a comparison is: not by one launch or one time, nor where a busy machine may have made "
    "the gap")
{
    const Study once = made::study({made::row()});
    Study now = made::study({slower()});
    now.baseline = &once;
    for (const std::size_t row : {0, 1})
        CHECK(baseline_table(now).cell(row, "verdict").text == "one launch each: not judged");
    const Study two = made::study({in_two_processes()});
    now.baseline = &two;
    for (const std::size_t row : {0, 1})
        CHECK(baseline_table(now).cell(row, "verdict").text == "at one time each: not judged");
    Measurement busy = slower();
    busy.host.shared = 0.5;
    const Study earlier = made::study({in_two_processes()}, made::seen_twice());
    now = made::study({busy}, made::seen_twice());
    now.baseline = &earlier;
    for (const std::size_t row : {0, 1})
        CHECK(baseline_table(now).cell(row, "verdict").text == "not told apart: a busy machine");
}

TEST_CASE("a point that the baseline lacks has no change and no arrow")
{
    const Study earlier = made::study({made::row("other")});
    Study now = made::study({slower()});
    now.baseline = &earlier;
    CHECK(baseline_table(now).rows.empty());
    CHECK(made::panel("roofline", now).find("class=\"change\"") == std::string::npos);
}

TEST_CASE("an arrow begins at the earlier rate")
{
    const Study earlier = made::study({made::row()});
    Study now = made::study({slower()});
    now.baseline = &earlier;
    const std::string html = made::panel("roofline", now);
    // conv1 forward: 1e9 FLOP in 12.5 ms, and 2e6 bytes at least.
    CHECK(html.find("data-x=\"500\" data-y=\"80000000000\"><path class=\"interval\"") != std::string::npos);
    CHECK(made::panel("baseline", now).find("Baseline: ") != std::string::npos);
}
