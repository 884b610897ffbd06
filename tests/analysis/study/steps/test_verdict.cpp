#include "analysis/report/report.hpp"
#include "analysis/study/ceilings/ceiling_tables.hpp"
#include "analysis/study/exports/export.hpp"
#include "analysis/study/steps/answer.hpp"
#include "analysis/study/steps/verdict.hpp"
#include "analysis/study/tables.hpp"
#include "analysis/table/quantities.hpp"
#include "analysis/table/rows.hpp"
#include "made.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace roof;
using namespace roof::analysis;
using made::holds;

TEST_CASE("the times of a step are sums by the bound of layers, with the rest separate")
{
    const Study study = made::study({made::row()});
    const StepTimes times = step_times(study.placements, study.results.rows[0]);
    CHECK(times.compute == Approx(0.0125));
    CHECK(times.bandwidth == Approx(0.001));
    CHECK(times.unexplained == Approx(0.024));  // conv1 backward, and the update at 1 ms of 4 ms
    CHECK(times.outside() == Approx(0.0025));
    CHECK(times.all() == Approx(0.040));
    Measurement waiting = made::row();
    waiting.data.median = {0.010};
    waiting.seconds.median = {0.030};  // less than its layers, which are timed apart
    const Study other = made::study({waiting});
    CHECK(step_times(other.placements, waiting).all() == Approx(0.0475));
    CHECK(step_times(other.placements, waiting).outside() == 0);
}

TEST_CASE("a verdict line gives time, throughput, rate, share of the roof and headroom")
{
    const std::string text = verdict_text(made::study({made::row()}));
    CHECK(holds(text, "40.0 ms [36.0, 44.0]"));
    CHECK(holds(text, "200"));           // 8 images in 40 ms
    CHECK(holds(text, "37.6 GFLOP/s"));  // 1.504e9 / 40 ms
    CHECK(holds(text, "42%"));           // reached: (10 + 0.8 + 5 + 1) ms of 40 ms
    CHECK(holds(text, "38%"));           // of peak
    CHECK(holds(text, "31% / 2.5% / 60%"));
    CHECK(holds(text, "23.2 ms"));  // 40 ms - (10 + 0.8 + 5 + 1) ms: each part under its own roof
    CHECK_FALSE(holds(text, "Not measured"));
}

TEST_CASE("a batch of another program has inputs, since nobody says that they are images")
{
    Measurement row = made::row();
    CHECK(batch_items({&row, 1}) == "images");
    row.bench = "pytorch";
    const Study study = made::study({row});
    CHECK(holds(verdict_text(study), "inputs/s"));
    CHECK(holds(summary({&study, 1}).front(), "most inputs per second"));
    for (const Figure& figure : trajectory_figures({&study, 1})) CHECK_FALSE(holds(draw(figure, "").str(), "images"));
    CHECK_FALSE(holds(verdict_text(study), "images"));
}

TEST_CASE("a row that is not ok has a line and a reason")
{
    const std::string text = verdict_text(made::study({made::row(), made::failed("net", "wants 14 GB")}));
    CHECK(holds(text, "out_of_memory"));
    CHECK(holds(text, "train cpu model=net batch=64 precision=fp32 threads=2 out_of_memory: wants 14 GB"));
}

TEST_CASE("a study without an ok row is reported")
{
    const Study study = made::study({made::failed("net", "wants 14 GB")});
    CHECK(holds(verdict_text(study), "wants 14 GB"));
    CHECK(headroom_text(study, 5).empty());
    CHECK(holds(verdict_text(made::study({})), "No training steps in this folder."));
}

TEST_CASE("without a calibration every text has a warning and the times")
{
    Study study = made::study({made::row()}, {});
    study.calibration = {};
    CHECK(holds(verdict_text(study), "no calibration of the machine"));
    CHECK(holds(verdict_text(study), "40.0 ms [36.0, 44.0]"));
    CHECK(headroom_text(study, 5).empty());
    CHECK(holds(ceilings_text(study.ceilings, {}), "No ceilings were measured."));
}

TEST_CASE("a calibration of another machine gives a warning")
{
    Study study = made::study({made::row()});
    study.calibration.machine.name = "other";
    CHECK(holds(calibration_warning(study), "another machine, 'other'"));
    CHECK(calibration_warning(made::study({})).empty());
}

TEST_CASE("the layers with the most headroom of the largest batch come first, at most as many as requested")
{
    const Study study = made::study({made::row("net", 8), made::row("net", 16), made::row("net", 4)});
    const auto layers = most_headroom(study.placements, study.results.rows[1], 2);
    REQUIRE(layers.size() == 2);
    CHECK(layers[0]->phase == Phase::backward);
    CHECK(layers[0]->headroom().value == Approx(0.015));
    CHECK(layers[1]->phase == Phase::update);
    const std::string text = headroom_text(study, 2);
    CHECK(holds(text, "net, batch 16, fp32 on cpu"));
    CHECK_FALSE(holds(text, "batch 8"));
    CHECK(most_headroom(study.placements, study.results.rows[1], -1).empty());
}

TEST_CASE("runs of one model with different thread counts are separate")
{
    const std::string text = headroom_text(made::study({made::row("net", 8, 1), made::row("net", 4, 2)}), 1);
    CHECK(holds(text, "net, batch 8, fp32 on cpu, 1 thread:"));
    CHECK(holds(text, "net, batch 4, fp32 on cpu, 2 threads:"));
}

TEST_CASE("the ceilings text has measured levels beside reported ones, contradictions and inconsistencies")
{
    Machine machine = made::machine();
    machine.inconsistencies = {"CPUID and the kernel disagree"};
    const std::string text = ceilings_text(made::ceilings(), machine);
    CHECK(holds(text, "400 GB/s [360, 440]"));
    CHECK(holds(text, "100 GFLOP/s [90.0, 110]"));
    CHECK(holds(text, "128 KiB to 1 MiB"));
    CHECK(holds(text, "contradiction: more than a factor of two apart"));
    CHECK(holds(text, "not reported"));
    CHECK(holds(text, "CPUID and the kernel disagree"));
    CHECK(holds(text, "(measured)"));
}

TEST_CASE("control characters in names never reach the terminal")
{
    const Study study = made::study({made::row("net\x1b[2J"), made::failed("b", "no\x1b]0;title")});
    CHECK_FALSE(holds(verdict_text(study) + headroom_text(study, 9), "\x1b"));
}

TEST_CASE("numbers for people keep three digits and one prefix")
{
    CHECK(with_interval({0.0123, 0.0119, 0.01285}, "s") == "12.3 ms [11.9, 12.8]");
    CHECK(with_interval({1.5e12, 0.9e12, 2e12}, "FLOP/s") == "1.50 TFLOP/s [0.900, 2.00]");
    CHECK(with_interval({0.978, 0.963, 0.985}, "sequences/s") == "0.978 sequences/s [0.963, 0.985]");
    CHECK(with_interval({1234, 1200, 1300}, "tokens/s") == "1234 tokens/s [1200, 1300]");
    CHECK(plain_number(1234.5) == "1234");
    CHECK(percent(0.1234) == "12%");
    CHECK(percent(0.0123) == "1.2%");
    CHECK(intensity_text({0.25}, {97.2}) == "0.25 to 97");
    CHECK(intensity_text({0.25}, {0.25}) == "0.25");
    CHECK(tick_text(1e10, "B/s") == "10 GB/s");
}

TEST_CASE("a point has its arithmetic in one sentence")
{
    const Study study = made::study({made::row()});
    CHECK(explain(study.placements[4]) ==
          "conv1 forward: 1.00 GFLOP in 12.5 ms [11.3, 13.8] = 80.0 GFLOP/s; 2.00 MB at least to DRAM, 0.25 to 500 "
          "FLOP/B; "
          "the fp32 roof allows 10.0 ms: 80% reached.");
}

TEST_CASE("the calibration is named with its date")
{
    Study study = made::study({made::row()});
    CHECK(calibration_line(study) == "Roofs: the calibration made/calibration. All 10 ceilings are steady.");
    study.calibration.rows = {made::row(), made::row()};
    study.calibration.rows[0].started = "2026-01-02T03:05:00Z";
    study.calibration.rows[1].started = "2026-01-02T03:04:05Z";
    CHECK(holds(calibration_line(study), "Roofs: the calibration made/calibration of 2026-01-02 03:04 UTC. All 10 "));
    study.calibration = {};
    CHECK(calibration_line(study).empty());
}

TEST_CASE("points above their roof beyond all intervals are counted, with the causes and the remedy")
{
    // The roof allows 1e9 FLOP / 100 GFLOP/s = 10 ms; both ends of both intervals are 10% away.
    Measurement inside = made::row();
    inside.parts[0].seconds = made::about<Seconds>(0.009);
    CHECK(above_their_roof(made::study({inside})).empty());
    CHECK(above_text(made::study({inside})).empty());
    Measurement beyond = made::row();
    beyond.parts[0].seconds = made::about<Seconds>(0.005);
    const Study study = made::study({beyond});
    REQUIRE(above_their_roof(study).size() == 1);
    const std::string text = above_text(study);
    CHECK(holds(text, "1 of 8 placed points lies above its roof"));
    CHECK(holds(text, "conv1, took 1/2.00 of the time that the fp32 roof allows"));
    CHECK(holds(text, "taps on padding"));
    CHECK_FALSE(holds(text, "of a cache"));
    CHECK(holds(text, "`roof calibrate`"));
    CHECK(holds(verdict_text(study), text));

    Measurement cached = made::row();
    cached.parts[1].part.work.compulsory = cached.parts[1].part.work.no_reuse = Bytes{1.6e6};
    cached.parts[1].seconds = made::about<Seconds>(0.00008);
    const std::string served = above_text(made::study({cached}));
    CHECK(holds(served, "1 of them is within the roof of a cache"));
    CHECK_FALSE(holds(served, "`roof calibrate`"));
}

TEST_CASE("the share of attainable is the same in table, trajectory, points, sentence, JSON and page")
{
    const Study study = made::study({made::row()});
    const Placement& step = study.placements.front();
    CHECK(step.fraction() == Approx(16.8 / 40));
    const auto share_in = [&](const DataTable& table, std::size_t row = 0) {
        return std::get<double>(table.cell(row, "share_of_attainable").value);
    };
    CHECK(std::get<double>(verdict_table(study).cell(0, "reached").value) == step.fraction());
    CHECK(share_in(trajectories_table(study)) == step.fraction());
    CHECK(share_in(placements_table(study)) == step.fraction());
    CHECK(study_json(study)["rows"][0]["share_of_attainable"] == step.fraction());
    CHECK(study_json(study)["rows"][0]["share_of_peak"] == step.share_of_peak());
    const nlohmann::json points = page_json(std::span(&study, 1))["studies"][0]["points"];
    CHECK(points["attainable"][0].get<double>() / points["median"][0].get<double>() == step.fraction());
    CHECK(holds(explain(step), percent(step.fraction()) + " reached"));
    CHECK(verdict_table(study).cell(0, "reached").text == percent(step.fraction()));
    CHECK(std::get<double>(verdict_table(study).cell(0, "of peak").value) == step.share_of_peak());
}

TEST_CASE("a row with a wide interval is unstable, with what disturbed it, and few samples are called a range")
{
    Measurement row = made::row();
    row.seconds = {{0.418}, {0.175}, {17.606}, 3, 0};
    row.samples.assign(3, row.samples.front());
    row.samples[1].disturbance = "steal";
    const Study study = made::study({row, made::row("steady")});
    const DataTable table = verdict_table(study);
    CHECK(table.cell(0, "status").text == "unstable");
    CHECK(table.cell(0, "n").text == "range of 3");
    CHECK(table.cell(1, "status").text == "ok");
    CHECK(table.cell(1, "n").text == "9");
    CHECK(holds(verdict_text(study), "1 of 3 samples disturbed: steal"));
    CHECK(holds(made::panel("verdict", study), "unstable: 1 of 3 samples disturbed: steal"));
    CHECK(study_json(study)["rows"][0]["unstable"] == true);
    CHECK(study_json(study)["rows"][1]["unstable"] == false);
}
