// The what-if formula by hand, and invalid settings. tests/page compares the page's numbers.
#include "analysis/study/steps/whatif.hpp"
#include "ert/base/error.hpp"
#include "made.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace roof;
using namespace roof::analysis;

TEST_CASE("each layer keeps the share of its roof, and time outside the layers is unchanged")
{
    const Study study = made::study({made::row()});
    const Predicted faster = what_if(study, {{{"fp32", 2.0}}, 0}).front();
    // conv1: 12.5 ms under a ceiling of 10 becomes 6.25; backward: 20 under 5 becomes 10; DRAM binds ReLU and update.
    CHECK(faster.seconds.value == Approx(0.040 - 0.00625 - 0.010));
    CHECK(faster.least.value == Approx(0.005 + 0.0008 + 0.0025 + 0.001));
    const Predicted same = what_if(study, {}).front();
    CHECK(same.seconds.value == Approx(0.040));
    CHECK(same.batch == 8);
}

TEST_CASE("a roof that binds nothing changes nothing, and above a raised roof the next one binds")
{
    const Study study = made::study({made::row()});
    CHECK(what_if(study, {{{"L1", 2.0}}, 0}).front().seconds.value == Approx(0.040));
    // At 100 times the compute roof, DRAM binds conv1: 2e6 B / 10 GB/s.
    CHECK(what_if(study, {{{"fp32", 1000.0}}, 0}).front().least.value == Approx(0.0002 + 0.0008 + 0.0004 + 0.001));
}

TEST_CASE("without the compute roof of its precision nothing is predicted")
{
    Measurement row = made::row();
    row.point.set("precision", "bf16");
    CHECK(what_if(made::study({row}), {{{"DRAM", 2.0}}, 0}).front().reason ==
          "no compute roof of its precision was measured");
}

TEST_CASE("a roof can be set to a rate")
{
    const Study study = made::study({made::row()});
    CHECK(what_if(study, {{}, 0, {{"fp32", 200e9}}}).front().seconds.value ==
          Approx(what_if(study, {{{"fp32", 2.0}}, 0}).front().seconds.value));
    CHECK(what_if(study, {{}, 0, {{"fp32", 100e9}}}).front().seconds.value == Approx(0.040));
}

TEST_CASE("a step without a batch, as an imported one, is as many times as fast as its time says")
{
    Measurement row = made::row();
    row.point = row.point.without("batch");
    const Study study = made::study({row});
    const std::vector<Predicted> same = what_if(study, {});
    CHECK(what_if_table(same).cell(0, "times as fast").text == "1.00");
}

TEST_CASE("another batch needs two measured ones")
{
    Measurement small = made::row("net", 4);
    Measurement large = made::row("net", 8);
    for (PartMeasurement& part : large.parts) part.part.work.flops = 2 * part.part.work.flops;
    const Study study = made::study({small, large});
    const std::vector<Predicted> answers = what_if(study, {{}, 16});
    REQUIRE(answers.size() == 2);
    // FLOPs are four times those of batch 4; the bytes were the same at both.
    CHECK(answers[0].least.value == Approx(0.040 + 0.0008 + 0.020 + 0.001));
    const Study alone = made::study({small});
    CHECK_FALSE(what_if(alone, {{}, 16}).front().reason.empty());
}

TEST_CASE("settings are factors of known roofs and a batch")
{
    const Study study = made::study({made::row()});
    const WhatIf change = parse_what_if({"DRAM=1.5x", "batch=512"}, study);
    CHECK(change.factors.at("DRAM") == 1.5);
    CHECK(change.batch == 512);
    const WhatIf rates = parse_what_if({"DRAM=2x", "DRAM=100GB/s", "fp32=1.5TFLOP/s"}, study);
    CHECK(rates.factors.empty());
    CHECK(rates.rates.at("DRAM") == 1e11);
    CHECK(rates.rates.at("fp32") == 1.5e12);
    CHECK(parse_what_if({"DRAM=5 GB/s"}, study).rates.at("DRAM") == 5e9);
    for (const char* wrong :
         {"DRAM=5GFLOP/s", "fp32=5GB/s", "DRAM=5QB/s", "DRAM=-5GB/s", "DRAM=GB/s", "DRAM=5G", "DRAM=5x2", "DRAM=2kx"})
        CHECK_THROWS_AS(parse_what_if({wrong}, study), InputError);
    CHECK_THROWS_WITH(parse_what_if({"dram=2x"}, study), Catch::Contains("did you mean 'DRAM'?"));
    for (const char* wrong : {"DRAM", "DRAM=1.5", "DRAM=0x", "DRAM=-1x", "DRAM=nanx", "HBM=2x", "batch=0", "batch=1.5"})
        CHECK_THROWS_AS(parse_what_if({wrong}, study), InputError);
}

TEST_CASE("the answer names the roof that binds before and after the change, and a folder without steps says so")
{
    const Study study = made::study({made::row()});
    const Predicted changed = what_if(study, {{{"fp32", 1000.0}}, 0}).front();
    CHECK(changed.binds_before == "fp32");
    CHECK(changed.binds == "DRAM");
    CHECK_THAT(to_text(what_if(study, {{{"fp32", 1000.0}}, 0})), Catch::Contains("fp32, then DRAM"));
    CHECK(to_json(what_if_table(what_if(study, {{{"fp32", 1000.0}}, 0})))[0]["binds"] == "DRAM");
    CHECK(what_if(study, {}).front().binds == "fp32");
    CHECK_THAT(to_text(what_if(made::study({}), {})), Catch::StartsWith("No training step was measured"));
}
