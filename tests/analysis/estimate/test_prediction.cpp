// Predictions: written before the measurement, read back after it, and compared with it.
#include "analysis/estimate/prediction.hpp"

#include "ert/base/error.hpp"
#include "made.hpp"
#include "tests/fakes/read_csv.hpp"

#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::analysis;
using Catch::Contains;

namespace {

Target made_target()
{
    Target target;
    target.name = target.title = "made";
    target.known = Known::measured;
    target.device = "cpu";
    target.machine = made::machine();
    target.ceilings = made::ceilings();
    target.memory = Bytes{2e9};
    return target;
}

Point step_at(const std::string& model, int batch, const std::string& precision = "fp32")
{
    Point point;
    point.set("model", model);
    point.set("batch", std::to_string(batch));
    point.set("precision", precision);
    return point;
}

}  // namespace

TEST_CASE("a prediction is the time without overlap, between the least time and twice that")
{
    const auto prediction = predict("row", step_at("resnet18", 8), made_target());
    REQUIRE(prediction);
    CHECK(prediction->predicted > prediction->least);
    CHECK(prediction->predicted < 2.0 * prediction->least);
    CHECK(prediction->fits);
    CHECK_FALSE(predict("row", step_at("vgg16", 64), made_target())->fits);
}

TEST_CASE("there is no prediction for a ceiling's row or a precision without a ceiling")
{
    Point working_set;
    working_set.set("working_set", "4096");
    CHECK_FALSE(predict("row", working_set, made_target()));
    CHECK_FALSE(predict("row", step_at("resnet18", 8, "bf16"), made_target()));
    CHECK_THROWS_AS(predict("row", step_at("resnet19", 8), made_target()), InputError);
}

TEST_CASE("predictions are read back exactly, and any digit changes their fingerprint")
{
    const std::vector<Prediction> predictions{
        *predict("train cpu model=resnet18 batch=8", step_at("resnet18", 8), made_target()),
        *predict("a \"b\", c", step_at("vgg16", 64), made_target())};
    const std::string text = to_csv(predictions);
    const std::vector<Prediction> again = parse_predictions(text, "predictions.csv");
    REQUIRE(again.size() == 2);
    for (std::size_t i = 0; i < 2; ++i) {
        CHECK(again[i].row == predictions[i].row);
        CHECK(again[i].predicted == predictions[i].predicted);
        CHECK(again[i].least == predictions[i].least);
        CHECK(again[i].fits == predictions[i].fits);
        CHECK(again[i].range.low == predictions[i].range.low);
        CHECK(again[i].range.high == predictions[i].range.high);
    }
    CHECK(again[0].range.low);
    const std::vector<Prediction> before =
        parse_predictions("row,least_s,predicted_s,memory_bytes,fits\na,1,2,3,1\n", "an earlier revision's");
    CHECK(before[0].predicted == Seconds{2});
    CHECK(before[0].memory == Bytes{3});
    CHECK_FALSE(before[0].range.low);
    CHECK(fingerprint("") == "cbf29ce484222325");
    CHECK(fingerprint("a") == "af63dc4c8601ec8c");
    CHECK(fingerprint(text) != fingerprint(to_csv(std::vector{predictions.front()})));
    CHECK_THROWS_WITH(parse_predictions("row,least_s,predicted_s,memory_bytes,fits\na,b,1,1,1\n", "p.csv"),
                      Contains("p.csv:2"));
}

TEST_CASE("a row whose convolutions take any algorithm is predicted with a lower end")
{
    Point point = step_at("vgg11", 8);
    const auto direct = predict("row", point, made_target());
    point.set("algorithm", "auto");
    const auto any = predict("row", point, made_target());
    CHECK(any->predicted == direct->predicted);
    CHECK(*any->range.low < *direct->range.low);
    CHECK(any->range.high == direct->range.high);
}

TEST_CASE(
    "the interval of a prediction is what the half of the record that makes it reached, and holds nine of ten held out")
{
    const CsvTable record = read_csv(ROOF_EXAMPLES "/predictions.csv");
    double fastest = 1, slowest = 1;
    int held = 0, held_out = 0;
    for (const std::vector<std::string>& row : record.rows) {
        const double ratio = std::stod(row[record.column("measured_s")]) / std::stod(row[record.column("predicted_s")]);
        if (row[record.column("part")] == "made") {
            fastest = std::min(fastest, ratio);
            slowest = std::max(slowest, ratio);
        } else if (row[record.column("part")] == "held out") {
            ++held_out;
            if (fastest_of_predicted <= ratio && ratio <= slowest_of_predicted) ++held;
        }
    }
    CHECK(fastest_of_predicted == Approx(fastest).margin(0.01));
    CHECK(slowest_of_predicted == Approx(slowest).margin(0.01));
    CHECK(fastest_of_predicted <= fastest);
    CHECK(slowest_of_predicted >= slowest);
    CHECK(held_out == 81);
    CHECK(held >= 0.9 * held_out);
}

TEST_CASE("errors are of measured rows, and an out-of-memory row checks the prediction of memory")
{
    const std::vector<Measurement> rows{made::row("net", 8), made::row("net", 16), made::failed("net", "no room")};
    const std::vector<Prediction> predictions{
        {rows[0].id(), {0.02}, {0.030}, {1e9}, true},
        {rows[1].id(), {0.02}, {0.046}, {1e9}, true, {Seconds{0.039}, Seconds{0.05}}},
        {rows[2].id(), {0.02}, {0.1}, {1e9}, true},
        {"another row", {1}, {1}, {1}, true}};
    const PredictionErrors errors = errors_of(predictions, rows);
    REQUIRE(errors.rows.size() == 3);
    CHECK(errors.rows[0].error == Approx(-0.25));
    CHECK(errors.rows[1].error == Approx(0.15));
    CHECK(errors.median == Approx(0.20));
    CHECK(errors.worst == Approx(0.25));
    CHECK(errors.rows[1].right);
    CHECK_FALSE(errors.rows[2].right);
    CHECK(errors.rows[1].held == true);
    CHECK_FALSE(errors.rows[0].held);
    CHECK(summary(errors) == "median 20%, worst 25%; the interval held 1 of 1");
    CHECK_THAT(to_text(errors), Contains("-25%") && Contains("+15%") && Contains("wrongly") && Contains("median 20%"));
}

TEST_CASE("a row is predicted under the roofs of its own threads")
{
    const auto with = [](const std::string& threads) {
        Point point = step_at("resnet18", 8);
        if (!threads.empty()) point.set("threads", threads);
        return predict("row", point, made_target());
    };
    CHECK(with("2")->predicted == with("")->predicted);
    CHECK(with("1")->predicted.value == Approx(2 * with("2")->predicted.value));  // each roof is half as high
    CHECK_FALSE(with("3"));                                                       // nobody measured them
}
