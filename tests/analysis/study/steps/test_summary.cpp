// The summary: the best device, crossovers between devices, and the largest losses.
#include "analysis/study/steps/answer.hpp"
#include "analysis/study/steps/verdict.hpp"
#include "analysis/table/fitted_text.hpp"
#include "ert/base/text.hpp"
#include "made.hpp"

#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::analysis;
using made::on;

TEST_CASE("a crossover is where the ratio of the times crosses 1 on logarithmic scales")
{
    const std::vector<RatioAtBatch> ratios{{4, 2, 1.8, 2.2}, {16, 0.5, 0.45, 0.55}};
    const std::vector<Crossover> found = crossovers("cpu", "gpu", ratios);
    REQUIRE(found.size() == 1);
    CHECK(found[0].faster == "gpu");
    CHECK(found[0].slower == "cpu");
    CHECK(found[0].batch == Approx(8));
    CHECK(found[0].low < 8);
    CHECK(found[0].low > 4);
    CHECK(found[0].high > 8);
    CHECK(found[0].high < 16);
}

TEST_CASE("a crossover extends to the last batch if an end of the interval never crosses")
{
    const std::vector<RatioAtBatch> ratios{{4, 1.1, 0.9, 1.3}, {16, 0.9, 0.7, 1.2}};
    const std::vector<Crossover> found = crossovers("cpu", "gpu", ratios);
    REQUIRE(found.size() == 1);
    CHECK(found[0].low == 4);
    CHECK(found[0].high == 16);
}

TEST_CASE("devices that never overtake each other have no crossover")
{
    CHECK(crossovers("cpu", "gpu", std::vector<RatioAtBatch>{{4, 2, 1.8, 2.2}, {16, 3, 2.5, 3.5}}).empty());
    CHECK(crossovers("cpu", "gpu", std::vector<RatioAtBatch>{{4, 2, 1.8, 2.2}}).empty());
}

TEST_CASE("the summary names the best device of each batch and the crossover")
{
    const Study study = made::study({on("cpu", 4, 0.02), on("cpu", 16, 0.2), on("gpu", 4, 0.04), on("gpu", 16, 0.05)});
    const std::vector<std::string> sentences = summary({&study, 1});
    REQUIRE(sentences.size() == 1);
    CHECK_THAT(sentences[0], Catch::Contains("fastest at batch 4 on cpu, 2 threads; at batch 16 on gpu, 2 threads; "));
    CHECK_THAT(sentences[0], Catch::Contains("gpu, 2 threads overtakes cpu, 2 threads at batch"));
}

TEST_CASE("two ranks with more images per second are the fastest although their step takes longer")
{
    Measurement two = on("cpu", 4, 4);
    two.point.set("ranks", "2");
    const Study study = made::study({on("cpu", 4, 2.5), two});
    CHECK_THAT(summary({&study, 1}).at(0),
               Catch::StartsWith(
                   "net fp32: fastest at batch 4 on cpu, 2 ranks, weak scaling, 2 threads; most images per "
                   "second of the median step at batch 4 per rank on cpu, 2 ranks, weak scaling, 2 threads: 2.00; "));
}

TEST_CASE("ranks overtake one rank where the times per image cross, not the times of a step")
{
    std::vector<Measurement> rows{on("cpu", 4, 1), on("cpu", 16, 4)};      // 4 images/s at both
    for (const auto& [batch, seconds] : {std::pair{4, 4.0}, {16, 4.0}}) {  // 2 and 8 images/s
        rows.push_back(on("cpu", batch, seconds));
        rows.back().point.set("ranks", "2");
    }
    const Study study = made::study(rows);
    // The ratio of the times per image goes from 2 to 1/2, so it is 1 in the middle, at batch 8.
    CHECK_THAT(summary({&study, 1}).at(0),
               Catch::Contains("cpu, 2 ranks, weak scaling, 2 threads overtakes cpu, 2 threads at batch 8.0 ["));
}

TEST_CASE("no line is wider than requested, and names have no control characters")
{
    const Study study = made::study({made::row("net\x1b[2J")});
    const std::string text = fitted_lines(join(summary({&study, 1}), "\n"), 80);
    CHECK(text.find('\x1b') == std::string::npos);
    std::size_t begin = 0;
    for (std::size_t end = text.find('\n'); end != std::string::npos; begin = end + 1, end = text.find('\n', begin))
        CHECK(end - begin <= 80);
}

TEST_CASE("the verdict fits eighty columns, with both candidates of an uncertain bottleneck")
{
    Measurement row = made::row("resnet18");
    row.parts[2].part.work.flops = {1.8e9};  // 18 of 20 ms: no longer unexplained
    Study study = made::study({row, made::failed("resnet18", "wants 14 GB")});
    study.placements.front().bottlenecks = {{"fp32", 0.93}, {"DRAM", 0.07}};
    const std::string text = verdict_text(study, 80);
    CHECK(text.find("fp32 or DRAM (93 / 7%)") != std::string::npos);
    CHECK(text.find("wants 14 GB") != std::string::npos);
    const std::string table = text.substr(0, text.find("\n\n"));
    for (const std::string& line : split(table, '\n')) CHECK(line.size() <= 80);
}
