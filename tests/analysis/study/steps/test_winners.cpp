// Which device is fastest at which batch.
#include "analysis/study/steps/answer.hpp"
#include "analysis/study/tables.hpp"
#include "made.hpp"

#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::analysis;
using made::on;

namespace {

DataTable table_of(std::vector<Measurement> rows)
{
    const Study study = made::study(std::move(rows));
    return winners_table(std::span(&study, 1));
}

}  // namespace

TEST_CASE("the fastest device of each batch comes first and the others say how far they are behind")
{
    const DataTable table =
        table_of({on("cpu", 4, 0.02), on("cpu", 16, 0.2), on("gpu:0", 4, 0.04), on("gpu:0", 16, 0.05)});
    REQUIRE(table.rows.size() == 4);
    CHECK(table.cell(0, "device").text == "cpu");
    CHECK(table.cell(0, "verdict").text == "fastest");
    CHECK(table.cell(1, "verdict").text == "slower");
    CHECK(table.cell(1, "of the fastest").text == "50%");
    CHECK(table.cell(2, "device").text == "gpu:0");
    CHECK(table.cell(2, "batch").text == "16");
    CHECK(table.cell(3, "of the fastest").text == "25%");
}

TEST_CASE("a step by another optimizer is no rival")
{
    Measurement by_adamw = on("gpu:0", 4, 0.01), also = on("cpu", 4, 0.03);
    by_adamw.point.set("optimizer", "adamw");
    CHECK(table_of({on("cpu", 4, 0.02), by_adamw}).rows.empty());
    also.point.set("optimizer", "adamw");
    const DataTable table = table_of({on("cpu", 4, 0.02), on("gpu:0", 4, 0.04), by_adamw, also});
    REQUIRE(table.rows.size() == 4);
    for (const std::size_t first : {0, 2}) CHECK(table.cell(first, "verdict").text == "fastest");
}

TEST_CASE("a step of other tokens or another phase is no rival, in tables and in sentences")
{
    for (const auto& [axis, value] : {std::pair{"tokens", "512"}, {"phase", "decode"}}) {
        Measurement one = on("cpu", 4, 0.02), other = on("cpu", 4, 0.04);
        for (Measurement* row : {&one, &other}) row->point.set("tokens", "128");
        other.point.set(axis, value);
        CHECK(table_of({one, other}).rows.empty());
        const Study study = made::study({one, other});
        const std::vector<std::string> sentences = summary(std::span(&study, 1), 0);
        REQUIRE(sentences.size() == 2);
        for (const std::string& sentence : sentences) CHECK_THAT(sentence, !Catch::Contains("fastest at"));
    }
}

TEST_CASE("devices whose intervals reach each other are not told apart")
{
    CHECK(table_of({on("cpu", 4, 0.020), on("gpu:0", 4, 0.021)}).cell(1, "verdict").text == "not told apart");
}

TEST_CASE("a device is not slower where its busy machine may have cost the gap")
{
    Measurement waited = on("gpu:0", 4, 0.04);  // at half the rate, the upper end of the ratio is 0.58
    waited.host.waited = 0.40;
    CHECK(table_of({on("cpu", 4, 0.02), waited}).cell(1, "verdict").text == "slower");
    waited.host.waited = 0.45;
    CHECK(table_of({on("cpu", 4, 0.02), waited}).cell(1, "verdict").text == "not told apart: a busy machine");
    waited.host = {.shared = 0.5};  // of which the cost is not known
    CHECK(table_of({on("cpu", 4, 0.02), waited}).cell(1, "verdict").text == "not told apart: a busy machine");
}

TEST_CASE("a device that is not there has a row with its reason")
{
    Measurement absent = on("gpu:0", 4, 0.02);
    absent.status = Status::unsupported;
    absent.reason = "no such device";
    const DataTable table = table_of({on("cpu", 4, 0.02), absent});
    REQUIRE(table.rows.size() == 2);
    CHECK(table.cell(1, "verdict").text == "unsupported");
    CHECK(table.cell(1, "images_per_s_*").is_absent);
    CHECK_THAT(table.note, Catch::Contains("unsupported: no such device"));
}

TEST_CASE("steps of one device have no winner and steps that none ran are for programs only")
{
    CHECK(table_of({on("cpu", 4, 0.02), on("cpu", 8, 0.02)}).rows.empty());
    Measurement one = on("gpu:0", 4, 0.02), two = on("gpu:0,1", 4, 0.02);
    one.status = two.status = Status::unsupported;
    const DataTable table = table_of({one, two});
    CHECK(table.rows.size() == 2);
    CHECK(table.empty());
}

TEST_CASE("ranks win by the images of all ranks, and the scaling decides how many these are")
{
    const auto ranks = [](const char* scaling, double seconds) {
        Measurement row = on("cpu", 4, seconds);
        row.point.set("ranks", "2");
        row.point.set("scaling", scaling);
        return row;
    };
    // 4 images in 2.5 s are 1.6 images/s; 2 x 4 in 4 s are 2.0; 4 together in 4 s are 1.0.
    const DataTable table = table_of({on("cpu", 4, 2.5), ranks("weak", 4), ranks("strong", 4)});
    REQUIRE(table.rows.size() == 3);
    CHECK(table.cell(0, "batch").text == "4 per rank");
    CHECK(table.cell(0, "images_per_s_*").text == "2.00 images/s [1.82, 2.22]");
    CHECK(table.cell(0, "verdict").text == "fastest");
    CHECK(table.cell(1, "batch").text == "4");
    CHECK(table.cell(1, "of the fastest").text == "80%");
    CHECK(table.cell(2, "batch").text == "4 in all");
    CHECK(table.cell(2, "of the fastest").text == "50%");
    CHECK(table.cell(2, "verdict").text == "slower");
}

TEST_CASE("three samples are too few to tell devices apart, however far apart they are")
{
    Measurement slow = on("gpu:0", 4, 0.8);
    slow.seconds.n = 3;
    CHECK(table_of({on("cpu", 4, 0.02), slow}).cell(1, "verdict").text == "too few samples to tell (9 and 3)");
}

TEST_CASE("rows of an absent device are one sentence, however many they are")
{
    std::vector<Measurement> rows{on("cpu", 4, 0.02), on("cpu", 8, 0.02)};
    for (const char* device : {"gpu:0", "gpu:0,1"})
        for (const int batch : {4, 8}) {
            rows.push_back(on(device, batch, 0));
            rows.back().status = Status::unsupported;
            rows.back().reason = "no such device";
        }
    const DataTable table = table_of(rows);
    CHECK(table.note == "gpu:0 and gpu:0,1 unsupported: no such device.");
    CHECK(visible_in(Shown::terminal, table).rows.size() == 2);
    CHECK(table.rows.size() == 6);
}
