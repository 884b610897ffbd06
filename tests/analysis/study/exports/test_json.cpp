#include "analysis/study/exports/export.hpp"
#include "analysis/table/table.hpp"
#include "made.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <cmath>

using namespace roof;
using namespace roof::analysis;

TEST_CASE("a measured row has SI units")
{
    Measurement row = made::row();
    row.data.median = {0.010};
    const nlohmann::json json = study_json(made::study({row}))["rows"][0];
    CHECK(json["model"] == "net");
    CHECK(json["batch_images"] == 8);
    CHECK(json["status"] == "ok");
    CHECK(json["reason"].is_null());
    CHECK(json["time_median_s"].get<double>() == Approx(0.040));
    CHECK(json["samples"] == 9);
    CHECK(json["backward_median_s"].get<double>() == Approx(0.020));
    CHECK(json["images_per_s"].get<double>() == Approx(8 / 0.050));
    CHECK(json["losses"][0].get<double>() == Approx(6.9));
    CHECK(json["rate_median_flop_per_s"].get<double>() == Approx(1.504e9 / 0.040));
    CHECK(json["memory_bytes"].get<double>() == Approx(1e9));
}

TEST_CASE("values that were not measured are null")
{
    const Measurement row = made::failed("net", "too large");
    const nlohmann::json json = study_json(made::study({row}))["rows"][0];
    CHECK(json["status"] == "out_of_memory");
    CHECK(json["reason"] == "too large");
    CHECK(json["time_median_s"].is_null());
    CHECK(json["images_per_s"].is_null());
    CHECK(json["data"].is_null());
}

TEST_CASE("infinities and NaN never reach JSON")
{
    CHECK(json_number(INFINITY).is_null());
    CHECK(json_number(NAN).is_null());
    Measurement row = made::row();
    row.seconds.high = {INFINITY};
    row.samples[0].loss = NAN;
    const std::string text = study_json(made::study({row})).dump();
    CHECK(text.find("inf") == std::string::npos);
    CHECK(text.find("nan") == std::string::npos);
}

TEST_CASE("names that are not UTF-8 do not break the document")
{
    const Measurement row = made::row("net\xff");
    CHECK_NOTHROW(study_json(made::study({row})).dump());
}

TEST_CASE("ceilings name level, operation, precision and unit")
{
    const nlohmann::json json = ceilings_json(made::ceilings(), made::machine());
    CHECK(json["machine"]["name"] == "made");
    CHECK(json["ceilings"].size() == 10);
    CHECK(json["ceilings"][0]["kind"] == "bandwidth");
    CHECK(json["ceilings"][0]["unit"] == "B/s");
    CHECK(json["ceilings"][0]["precision"].is_null());
    CHECK(json["ceilings"][8]["precision"] == "fp32");
    CHECK(json["ceilings"][8]["unit"] == "FLOP/s");
    CHECK(json["ceilings"][8]["low"].get<double>() == Approx(90e9));
    CHECK(json["levels"][1]["contradiction"] == true);
    CHECK(json["levels"][2]["reported_bytes"].is_null());
}

TEST_CASE("the interference of a run: samples taken, and disturbed ones by reason")
{
    Measurement row = made::row("net");
    row.samples.assign(5, Sample{});
    row.samples[0].used = false;  // a warm-up
    row.samples[1].used = false;
    row.samples[1].disturbance = "a core was shared";
    row.samples[2].disturbance = "a core was shared";
    const nlohmann::json json = samples_json(std::span(&row, 1));
    CHECK(json["taken"] == 4);
    CHECK(json["disturbed"] == nlohmann::json{{"a core was shared", 2}});
}

TEST_CASE("a ceiling has its clock, its spec and its steadiness")
{
    Ceilings ceilings = made::ceilings();
    Ceiling& c = ceilings.all[0];
    c.clock = made::about<Hertz>(1e9);
    c.per_clock = {{200}, {199}, {201}, 9, 0};
    c.variant = "avx2, 8 per iteration";
    c.steadiness = Steadiness::at_least;
    Machine machine = made::machine();
    machine.devices[0].spec_rates = {{"bandwidth", "L1", "load", "", "", 128, "Made"}};
    const nlohmann::json json = ceilings_json(ceilings, machine);
    const nlohmann::json& ceiling = json["ceilings"][0];
    CHECK(ceiling["clock_hertz"]["median"].get<double>() == Approx(1e9));
    CHECK(ceiling["per_clock_and_core"].get<double>() == Approx(200));
    CHECK(ceiling["share_of_spec"].get<double>() == Approx(200.0 / 128));
    CHECK(ceiling["variant"] == "avx2, 8 per iteration");
    CHECK(ceiling["steadiness"] == "at least");
    CHECK(ceiling["high"].is_null());
    CHECK(json["above_spec"] == nlohmann::json{"L1 load, 1 thread"});
    CHECK(json["machine"]["devices"][0]["spec_rates"][0]["per_clock"] == 128);
    CHECK(json["ceilings"][1]["clock_hertz"].is_null());
    CHECK(json["ceilings"][1]["share_of_spec"].is_null());
}

TEST_CASE("a study names its calibration and its date")
{
    Study study = made::study({made::row()});
    study.calibration.rows = {made::row()};
    study.calibration.rows[0].started = "2026-01-02T03:04:05Z";
    const nlohmann::json json = study_json(study);
    CHECK(json["rows"].size() == 1);
    CHECK(json["calibration"]["folder"] == "results/made/calibration");
    CHECK(json["calibration"]["date"] == "2026-01-02 03:04 UTC");
    CHECK(json["points_above_a_roof"] == 0);
    study.calibration = {};
    CHECK(study_json(study)["calibration"].is_null());
}
