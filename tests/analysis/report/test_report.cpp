#include "../fakes/temporary_folder.hpp"
#include "analysis/report/report.hpp"
#include "analysis/table/html.hpp"
#include "analysis/table/quantities.hpp"
#include "ert/base/error.hpp"
#include "made.hpp"
#include "recordings.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include <fstream>
#include <sstream>

using namespace roof;
using namespace roof::analysis;
using made::holds;

namespace {

std::size_t count(const std::string& text, const std::string& part)
{
    std::size_t n = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
    return n;
}

/// The page without its script, which contains no text from measured files.
std::string without_script(std::string html)
{
    if (const std::size_t begin = html.find(page_script()); begin != std::string::npos)
        html.erase(begin, page_script().size());
    return html;
}

constexpr const char* hostile = "</title></svg><script>alert('x')</script>\"onload=\"x&";

}  // namespace

TEST_CASE("text is escaped for markup and quoted attributes")
{
    CHECK(escape("<a b=\"c\" d='e'>&") == "&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp;");
    CHECK(escape("a\x1b"
                 "b") == "a?b");
}

TEST_CASE("no name from a file becomes markup")
{
    Measurement row = made::row(hostile);
    row.device = "cpu";
    row.description = hostile;
    for (PartMeasurement& part : row.parts) part.part.layer = part.part.kind = part.part.implementation = hostile;
    Measurement failed = made::failed(hostile, hostile);
    Study study = made::study({row, failed});
    study.results.plan = study.results.machine.cpu_model = study.results.machine.name = hostile;
    study.results.folder = std::string("results/") + "<script>folder";
    study.results.machine.inconsistencies = {hostile};
    study.results.machine.versions = {{hostile, hostile}};
    study.ceilings.all[0].operation = study.ceilings.all[0].isa = hostile;
    const std::string html = without_script(report_html({study}));
    const std::size_t own = 2;
    CHECK(count(html, "<script") == own);
    CHECK(count(html, "</script") == own);
    CHECK_FALSE(holds(html.substr(0, html.find("<script type")), "\"onload"));
    CHECK(holds(html, "&lt;script&gt;"));
}

TEST_CASE("the report needs no network")
{
    const std::string html = without_script(report_html({made::study({made::row()})}));
    CHECK(holds(html, "default-src 'none'"));
    CHECK_FALSE(holds(html, "script-src 'unsafe-inline'"));
    CHECK_FALSE(holds(html, "http:"));
    CHECK_FALSE(holds(html, "https:"));
    CHECK_FALSE(holds(html, "src="));
    CHECK_FALSE(holds(html, "@import"));
    CHECK(holds(html, "prefers-color-scheme:dark"));
    CHECK(holds(html, "@media print"));
}

TEST_CASE("no text in the page's data ends its script element")
{
    const std::string text = script_text({{"name", "</script><!--\u2028&"}});
    CHECK(text == R"({"name":"\u003c/script\u003e\u003c!--\u2028\u0026"})");
}

TEST_CASE("the page's data has every point and each text once")
{
    const nlohmann::json page = page_json(std::vector<Study>{made::study({made::row("net", 4), made::row("net", 8)})});
    const nlohmann::json& study = page["studies"][0];
    CHECK(study["rows"].size() == 2);
    for (const auto& [name, column] : study["points"].items()) {
        INFO(name);
        CHECK(column.size() == 2 * 8);
    }
    CHECK(study["kinds"] == nlohmann::json{"", "convolution", "relu"});
    CHECK(study["points"]["attainable"][4].get<double>() == Approx(0.010));
    CHECK(study["points"]["cells"][4] == nlohmann::json{"12.5 ms", "31%", "80.0 GFLOP/s", "500", "fp32", "80%",
                                                        "2.50 ms"});  // 1 GFLOP, 2 MB, 100 GFLOP/s
}

TEST_CASE("the same study gives the same bytes")
{
    CHECK(report_html({made::study({made::row()})}) == report_html({made::study({made::row()})}));
}

TEST_CASE("every panel of a full study has a heading and a link")
{
    Measurement of_ranks = made::row("net", 8);
    of_ranks.point.set("ranks", "2");
    Study study = made::study({made::row("net", 4), made::row("net", 8), of_ranks});
    Measurement probe;
    probe.role = Role::bandwidth;
    probe.device = "cpu";
    probe.point.set("working_set", "4096");
    probe.work.compulsory = {4096};
    probe.seconds = made::about<Seconds>(1e-7);
    Measurement curve = probe;
    curve.role = Role::compute;
    curve.point.set("intensity", "1/4");
    curve.work.flops = {1024};
    study.calibration.rows = {probe, curve};
    for (Placement& p : study.placements)
        for (const LevelPlacement& level : p.levels) p.moved.push_back({level.low, level.high, Known::counter});
    const fakes::TemporaryFolder folder;
    study.results.folder = folder.path();
    made::record(folder, study.results.rows.front().id());
    const Prediction prediction{study.results.rows.front().id(), {0.02}, {0.030}, {1e9}, true};
    study.predictions = errors_of(std::vector{prediction}, study.results.rows);
    study.results.rows.front().sustained.seconds = made::about<Seconds>(0.045);
    const Study earlier = study;
    study.baseline = &earlier;
    const std::string html = report_html({study});
    for (const Panel& panel : panels()) {
        INFO(panel.id);
        CHECK(holds(html, "<section id=\"" + std::string(panel.id) + "\">"));
        CHECK(holds(html, "<a href=\"#" + std::string(panel.id) + "\">"));
    }
}

TEST_CASE("predicted times stand beside the measured ones, with their error")
{
    Study study = made::study({made::row("net", 4), made::row("net", 8), made::failed("net", "no room")});
    std::vector<Prediction> predictions;
    for (const Measurement& row : study.results.rows) predictions.push_back({row.id(), {0.02}, {0.030}, {1e9}, true});
    CHECK(made::panel("predictions", study).empty());
    study.predictions = errors_of(predictions, study.results.rows);
    const std::string html = made::panel("predictions", study);
    CHECK(count(html, "-25%") >= 2);
    CHECK(holds(html, "Error of the predicted time"));
}

TEST_CASE("the roofline connects the intensities of a point and explains it")
{
    const std::string html = made::panel("roofline", made::study({made::row()}));
    CHECK(count(html, "class=\"mark forward") + count(html, "class=\"mark backward") +
              count(html, "class=\"mark update") ==
          3 + 4);
    CHECK(count(html, "class=\"mark step s0\"") == 1 + 1);
    CHECK(holds(html, "<title>conv1 forward: 1.00 GFLOP in 12.5 ms"));
    CHECK(count(html, "class=\"band\"") == 4);  // three levels and fp32, not fp64
    CHECK(count(html, "class=\"ridge\"") == 3);
    CHECK(holds(html, "<title>Ridge point of DRAM and fp32: 10 FLOP/B</title>"));
    CHECK(holds(html, ">net, batch 8, fp32 on cpu, 2 threads is bound by neither roof"));
    CHECK(holds(html, ">10% of the step</text>"));
    CHECK(holds(html, "arithmetic intensity (FLOP/B)"));
}

TEST_CASE("equal ceilings give equal frames, whatever the steps")
{
    Measurement small = made::row("small", 1), bf16 = made::row("net", 8);
    for (PartMeasurement& part : small.parts) part.part.work.flops = part.part.work.flops / 1000;
    bf16.point.set("precision", "fp64");
    const auto frames = [](const Study& study) {
        std::vector<nlohmann::json> all;
        for (const nlohmann::json& figures : page_json({&study, 1})["studies"][0]["figures"])
            for (const char* axis : {"x", "y"}) all.push_back(figures["roofline"][axis]["frame"]);
        return all;
    };
    CHECK(frames(made::study({made::row("net", 64)})) == frames(made::study({small, bf16})));
    for (const nlohmann::json& ends : frames(made::study({made::row()})))
        for (const nlohmann::json& end : ends)
            CHECK(std::log10(end.get<double>()) == Approx(std::round(std::log10(end.get<double>()))));
}

TEST_CASE("an axis has the more ticks the fewer decades it shows")
{
    const analysis::Axis axis{"", {1, 1e4}, decade_ticks(1e-2, 1e6, [](double) { return ""; }), false};
    const auto drawn = [&](double low, double high) {
        std::vector<double> at;
        for (const Tick& tick : axis.ticks_in(low, high)) at.push_back(std::round(10 * tick.at) / 10);
        return at;
    };
    CHECK(drawn(1.5, 30) == std::vector<double>{2, 5, 10, 20});
    CHECK(drawn(1.5, 6) == std::vector<double>{2, 3, 4, 5, 6});
    CHECK(drawn(1, 1e4) == std::vector<double>{1, 10, 100, 1000, 10000});
}

TEST_CASE("a panel of curves is followed by its numbers")
{
    const Study study = made::study({made::row("net", 8), made::row("net", 16)});
    const auto panel = std::ranges::find(panels(), "trajectory", &Panel::id);
    const std::string html = numbers_of(*panel, study);
    CHECK(holds(html, "<details class=\"numbers\"><summary>Table</summary>"));
    CHECK(holds(html, "rate of median step"));
    CHECK(holds(html, " images/s"));
    CHECK_FALSE(holds(html, ">precision<"));  // the same in all rows
    std::vector<Measurement> of_tokens{made::row("net", 8), made::row("net", 16)};
    for (Measurement& row : of_tokens) row.point.set("tokens", "128");
    const std::string sequences = numbers_of(*panel, made::study(of_tokens));
    CHECK(holds(sequences, " sequences/s"));
    CHECK_FALSE(holds(sequences, "images"));
}

TEST_CASE("the numbers of a panel are those that programs get, unit in the title")
{
    const auto panel = std::ranges::find(panels(), "breakdown", &Panel::id);
    const std::string html = numbers_of(*panel, made::study({made::row()}));
    CHECK(holds(html, ">time s<"));
    CHECK(holds(html, ">convolution</td><td class=\"n\">0.0325</td><td class=\"n\">0.812</td>"));  // 32.5 of 40 ms
}

TEST_CASE("the breakdown shows time outside the layers, and each kind by phase")
{
    const std::string html = made::panel("breakdown", made::study({made::row()}));
    CHECK(holds(html, "<td>outside the layers</td><td class=\"n\">2.50 ms</td>"));
    CHECK(holds(html, "<td>convolution</td><td class=\"n\">32.5 ms</td><td class=\"n\">12.5 ms</td>"));
    CHECK(holds(html, "<i class=\"forward\" style=\"width:31.2%\"></i><i class=\"backward\" style=\"width:50.0%\">"));
    CHECK(holds(html, "<i class=\"update\" style=\"width:10.0%\">"));
}

TEST_CASE("the traffic of a step stands beside what each level's roof allows in its time")
{
    // 40 ms under L1, L2 and DRAM with 1000, 100 and 10 GB/s: 40, 4 and 0.4 GB.
    Study study = made::study({made::row()});
    Placement& step = study.placements.front();
    REQUIRE(step.levels.size() == 3);
    for (LevelPlacement& level : step.levels)
        level.roof = {level.level == "L1" ? 1e12 : level.level == "L2" ? 1e11 : 1e10};
    step.moved = {
        {{10e9}, {20e9}, Known::analytic}, {{1e9}, {1e9}, Known::simulated}, {{0.1e9}, {1e9}, Known::counter}};
    const std::string html = made::panel("traffic", study);
    CHECK(holds(html, "title=\"L1 to cores: 10.0 GB to 20.0 GB, analytic; 25% to 50% of what its roof allows"));
    CHECK(holds(html, "title=\"L2 to L1: 1.00 GB, simulated; 25% of what its roof allows"));
    CHECK(holds(html, "title=\"DRAM to L2: 100 MB to 1.00 GB, counter; at least 25% of what its roof allows"));
    CHECK(holds(html, "<i class=\"at-least\" style=\"width:25.0%\"></i><i class=\"may-be\" style=\"width:25.0%\">"));
    CHECK(holds(html, "<i class=\"at-least\" style=\"width:25.0%\"></i><i class=\"may-be\" style=\"width:75.0%\">"));
    step.moved.clear();  // of one level they are not known
    CHECK(made::panel("traffic", study).empty());
}

TEST_CASE("a study without a calibration is reported with a warning and without roofs")
{
    Study study = made::study({made::row()}, {});
    study.calibration = {};
    const std::string html = report_html({study});
    CHECK(holds(html, "No ceilings: no calibration of the machine"));
    const std::string two = report_html({study, study});  // which say it once
    const std::string head = two.substr(0, two.find("</header>"));
    CHECK(head.find("No ceilings") == head.rfind("No ceilings"));
    CHECK(holds(head, "No ceilings"));
    CHECK(holds(html, "40.0 ms [36.0, 44.0]"));
    CHECK_FALSE(holds(html, "class=\"roof\""));
}

TEST_CASE("a study without any row that is ok lists the reasons")
{
    const std::string html = report_html({made::study({made::failed("net", "wants 14 GB")})});
    CHECK(holds(html, "wants 14 GB"));
    CHECK_FALSE(holds(html, ">nan"));
}

TEST_CASE("each panel has several studies under their names")
{
    Study other = made::study({made::row("other")});
    other.results.folder = "results/made/second";
    const std::string html = report_html({made::study({made::row()}), other});
    CHECK(count(html, "<h3>made / run</h3>") == count(html, "<h3>made / second</h3>"));
    CHECK(holds(html, "<h3>made / second</h3>"));
    CHECK(count(html, "id=\"roofline-0-1\"") == 1);
    CHECK(count(html, "id=\"roofline-1-1\"") == 1);
}

TEST_CASE("a report of 5,000 points stays under 3.4 MB")
{
    Measurement row = made::row();
    while (row.parts.size() < 5000) {
        PartMeasurement part = row.parts[row.parts.size() % 4];
        part.part.layer = "layer" + std::to_string(row.parts.size()) + ".conv1";
        row.parts.push_back(part);
    }
    const std::size_t size = report_html({made::study({row})}).size();
    CHECK(size < 3'400'000);
}

TEST_CASE("a report is one complete file")
{
    const fakes::TemporaryFolder folder;
    const std::vector<Study> studies{made::study({made::row()})};
    write_file(folder / "report.html", report_html(studies));
    std::ostringstream read;
    read << std::ifstream(folder / "report.html").rdbuf();
    CHECK(read.str() == report_html(studies));
    CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("a path that cannot be written is an input error, and a folder there is kept")
{
    const fakes::TemporaryFolder folder;
    CHECK_THROWS_AS(write_file(folder / "none/report.html", report_html({})), InputError);
    std::filesystem::create_directories(folder / "taken/full");
    CHECK_THROWS_AS(write_file(folder / "taken", report_html({})), InputError);
    CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("the Empirical Roofline curve is drawn under the roofs of loads and of its precision")
{
    Study study = made::study({});
    for (const double flops : {2e6, 32e6, 512e6}) {
        Measurement dot;
        dot.bench = "ert";
        dot.role = Role::compute;
        dot.device = "cpu";
        dot.point.set("intensity", std::to_string(flops / 16e6));
        dot.point.set("precision", "fp32");
        dot.point.set("threads", "2");
        dot.point.set("working_set", "16384");
        dot.work = {{flops}, {16e6}, {16e6}};
        dot.seconds = made::about<Seconds>(std::max(flops / 100e9, 16e6 / 400e9));
        study.calibration.rows.push_back(dot);
    }
    const std::string html = made::panel("ert", study);
    CHECK(count(html, "class=\"mark s0 dot\" data-key") == 3);
    CHECK(count(html, "class=\"band\"") == 3 + 1);
    CHECK(holds(html, "fp32 on cpu, 2 threads"));
    CHECK(holds(html, "16 KiB (L1)"));
    CHECK(holds(html, "1/8 FLOP/B over 16 KiB: 50.0 GFLOP/s"));
    CHECK(holds(html, "100% of what the roofs allow"));
    CHECK(made::panel("ert", made::study({made::row()})).empty());
}

TEST_CASE("a folder with ceilings but no steps shows its roofs and no empty chart")
{
    const std::string html = report_html({made::study({})});
    CHECK(count(html, "<section id=\"roofline\">") == 1);
    CHECK_THAT(html, Catch::Contains("Roofs of cpu, 2 threads"));
    for (const char* id : {"time", "headroom", "breakdown", "trajectory", "whatif"})
        CHECK(count(html, "<section id=\"" + std::string(id) + "\">") == 0);
}

TEST_CASE("a layer above the farthest roof is hollow with a reason, and each layer has its time without reuse")
{
    Study study = made::study({made::row()});
    const std::string below = made::panel("roofline", study);
    CHECK(count(below, " hollow s0\" data-key") == 0);
    for (Placement& p : study.placements)
        if (p.scope == Scope::layer && p.flops.value > 0)
            p.rate.median = 2 * p.levels.back().roof * p.levels.back().intensity_high, p.served_by = "L2";
    const std::string above = made::panel("roofline", study);
    CHECK(count(above, " hollow s0\" data-key") > 0);
    CHECK(count(above, "Above the DRAM roof: part of these bytes was still in a cache.") > 0);
    Placement moved = study.placements.back();
    moved.flops = Flops{1e9};
    moved.levels.back().low = Bytes{1e6};
    moved.levels.back().high = Bytes{4e9};
    moved.levels.back().roof = ByteRate{40e9};
    CHECK_THAT(remarks_on(moved), Catch::Contains("(no reuse) they would be 4.00 GB and take 100 ms at DRAM's roof"));
}
