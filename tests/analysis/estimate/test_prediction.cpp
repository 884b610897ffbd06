// Predictions: written before the measurement, read back after it, and compared with it.
#include "analysis/estimate/prediction.hpp"

#include "ert/base/error.hpp"
#include "made.hpp"
#include "tests/fakes/read_csv.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <set>

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
    std::vector<Prediction> predictions{
        *predict("train cpu model=resnet18 batch=8", step_at("resnet18", 8), made_target()),
        *predict("a \"b\", c", step_at("vgg16", 64), made_target())};
    predictions[1].is_tried = true;
    const std::string text = to_csv(predictions);
    const std::vector<Prediction> again = parse_predictions(text, "predictions.csv");
    REQUIRE(again.size() == 2);
    for (std::size_t i = 0; i < 2; ++i) {
        CHECK(again[i].row == predictions[i].row);
        CHECK(again[i].predicted == predictions[i].predicted);
        CHECK(again[i].least == predictions[i].least);
        CHECK(again[i].fits == predictions[i].fits);
        CHECK(again[i].is_tried == (i == 1));
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

TEST_CASE("the interval of a prediction has 90% of a further step, by the record's spread")
{
    const CsvTable record = read_csv(ROOF_EXAMPLES "/predictions.csv");
    const auto check = [&](const std::string& by, double student, double fastest, double slowest) {
        double count = 0, sum = 0, squares = 0;
        for (const std::vector<std::string>& row : record.rows) {
            if (row[record.column("part")] != by) continue;
            const double logarithm =
                std::log(std::stod(row[record.column("measured_s")]) / std::stod(row[record.column("predicted_s")]));
            count += 1;
            sum += logarithm;
            squares += logarithm * logarithm;
        }
        REQUIRE(count >= 30);
        const double mean = sum / count;
        const double half = student * std::sqrt((squares / count - mean * mean) * (count + 1) / (count - 1));
        CHECK(fastest == Approx(std::exp(mean - half)).margin(0.01));
        CHECK(slowest == Approx(std::exp(mean + half)).margin(0.01));
    };
    check("roofs", 1.655, fastest_of_predicted, slowest_of_predicted);  // of 155 degrees of freedom
    check("trial", 1.658, fastest_of_tried, slowest_of_tried);          // of 113
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

TEST_CASE("a row's trial has its precision, threads and algorithm, and layers of its kind")
{
    Point point = step_at("resnet18", 16);
    point.set("threads", "1");
    point.set("algorithm", "auto");
    const auto of_images = trial_of(point);
    REQUIRE(of_images);
    CHECK(of_images->text("threads") == "1");
    CHECK(of_images->text("algorithm") == "auto");
    CHECK(estimate_model(request_of(*of_images)).model == "trial_of_images");
    CHECK(trial_of(step_at("resnet50", 2))->text("model") == of_images->text("model"));

    Point tokens = step_at("llama_1b", 3);
    tokens.set("tokens", "77");
    tokens.set("phase", "prefill");
    CHECK(estimate_model(request_of(*trial_of(tokens))).model == "trial_of_tokens");
    CHECK(trial_of(tokens)->text("phase") == "forward");
    tokens.set("phase", "decode");
    const auto over_cache = trial_of(tokens);
    CHECK(estimate_model(request_of(*over_cache)).model == "trial_over_cache");
    CHECK(over_cache->text("batch") == "3");
    CHECK_THAT(over_cache->text("model"), Contains("cached: 77}"));

    point.set("ranks", "2");
    CHECK_FALSE(trial_of(point));
}

TEST_CASE("each kind of work takes as many times its time without overlap as it took in the trial")
{
    const Target target = made_target();
    const MachineEstimate row = estimate_on(target, request_of(step_at("vgg11", 8)));
    Measurement trial;
    trial.point = *trial_of(step_at("vgg11", 8));
    const MachineEstimate of_trial = estimate_on(target, request_of(trial.point));
    const ModelEstimate counted = estimate_model(request_of(trial.point));
    const auto add = [&](const std::string& layer, Seconds seconds) {
        PartMeasurement part;
        part.part.layer = layer;
        part.seconds.median = seconds;
        trial.parts.push_back(part);
        trial.seconds.median += seconds;
    };
    std::set<std::string> had;
    for (const LayerEstimate& layer : counted.layers)
        if (of_trial.by_loops.contains(layer.loops) && layer.loops != "relu" && had.insert(layer.loops).second)
            add(layer.name + "+relu",
                (layer.loops == "convolution 3x3" ? 1.5 : 1.0) * of_trial.by_loops.at(layer.loops));
    add("sgd", of_trial.by_loops.at("update"));
    const Seconds expected = row.without_overlap + 0.5 * row.by_loops.at("convolution 3x3") - row.by_loops.at("relu");
    CHECK(row.by_loops.at("relu").value > 0);
    CHECK(predicted_by(trial, row, target)->value == Approx(expected.value));

    trial.seconds.median = 1.1 * trial.seconds.median;  // a tenth outside the layers
    const auto predicted = predict("row", step_at("vgg11", 8), target, &trial);
    CHECK(predicted->predicted.value == Approx(1.1 * expected.value));
    CHECK(predicted->is_tried);
    CHECK(predicted->range.high->value == Approx(slowest_of_tried * predicted->predicted.value));

    // A machine whose roofs were seen at two times is not more certain than they are.
    Target seen_twice = target;
    for (Ceiling& ceiling : seen_twice.ceilings.all) ceiling.between = 0.4;
    const auto between = predict("row", step_at("vgg11", 8), seen_twice, &trial);
    CHECK(between->predicted == predicted->predicted);
    CHECK(std::log(*between->range.high / between->predicted) == Approx(std::hypot(std::log(slowest_of_tried), 0.4)));
    CHECK(std::log(*between->range.low / between->predicted) == Approx(-std::hypot(std::log(fastest_of_tried), 0.4)));
    for (Ceiling& ceiling : seen_twice.ceilings.all) ceiling.between.reset();
    CHECK(predict("row", step_at("vgg11", 8), seen_twice, &trial)->range.high == predicted->range.high);

    trial.status = Status::failed;
    CHECK_FALSE(predict("row", step_at("vgg11", 8), target, &trial)->is_tried);
}
