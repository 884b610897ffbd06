#include "analysis/estimate/node_scaling.hpp"

#include "analysis/estimate/machine_estimate.hpp"
#include "ert/base/csv.hpp"
#include "ert/base/error.hpp"
#include "ert/base/files.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <cmath>
#include <random>

using namespace roof;
using namespace roof::analysis;
using Catch::Contains;

namespace {

constexpr double gradients = 4 * 61'100'840.0;  // of AlexNet

/// AlexNet on n ranks, `each` seconds a step with 1% of noise.
Measurement step_row(int ranks, double each)
{
    std::mt19937 random(static_cast<unsigned>(ranks));
    std::normal_distribution<double> noise(1, 0.01);
    Measurement row;
    row.bench = "train";
    row.role = Role::step;
    row.device = "cpu";
    row.point.set("model", "alexnet");
    row.point.set("batch", "8");
    row.point.set("threads", std::to_string(ranks));
    if (ranks > 1) row.point.set("ranks", std::to_string(ranks));
    for (int i = 0; i < 15; ++i) {
        Sample sample;
        sample.seconds = Seconds{each * noise(random)};
        sample.forward = sample.seconds / 3;
        row.samples.push_back(sample);
    }
    row.seconds = {Seconds{each}, Seconds{each}, Seconds{each}, 15, 0};
    return row;
}

/// All-reduces over n ranks of one node.
Measurement reduce_row(int ranks, double size, double alpha, double beta)
{
    Measurement row;
    row.bench = "network";
    row.role = Role::bandwidth;
    row.device = "cpu";
    row.point.set("operation", "allreduce");
    row.point.set("path", "1x" + std::to_string(ranks));
    row.point.set("size", std::to_string(static_cast<long long>(size)));
    const double bytes = 2.0 * (ranks - 1) / ranks * size;
    row.work.compulsory = row.work.no_reuse = Bytes{bytes};
    for (int i = 0; i < 5; ++i) {
        Sample sample;
        sample.seconds = Seconds{2 * (ranks - 1) * alpha + bytes / beta};
        row.samples.push_back(sample);
    }
    row.seconds = {row.samples[0].seconds, row.samples[0].seconds, row.samples[0].seconds, 5, 0};
    return row;
}

/// A step of 1 s on one rank, messages at 1 GB/s, and a step of 4 ranks that took so long.
Results measured(double four)
{
    Results results;
    results.rows = {step_row(1, 1), step_row(4, four)};
    for (const int ranks : {2, 4})
        for (const double size : {64.0, 65536.0, 16777216.0})
            results.rows.push_back(reduce_row(ranks, size, 1e-5, 1e9));
    return results;
}

ScalingPrediction predicted(double four, std::vector<int> nodes)
{
    const std::vector<Results> all{measured(four)};
    return predict_scaling({.model = "alexnet", .nodes = std::move(nodes)}, all);
}

}  // namespace

TEST_CASE("the bracket reaches from no overlap to full overlap")
{
    const OneRank one{Seconds{3}, Seconds{1}, Seconds{0}};
    const Bracket bracket = efficiency_bracket(one, Seconds{2.5}, 4);
    CHECK(bracket.low == Approx(3 / 5.5));
    CHECK(bracket.high == Approx(3 / 3.5));
    CHECK(efficiency_bracket(one, Seconds{1}, 4).high == 1);
}

TEST_CASE("a step waits for the latest of many ranks")
{
    const OneRank one{Seconds{1}, Seconds{0.3}, Seconds{0.1}};
    CHECK(efficiency_bracket(one, Seconds{0}, 1).low == 1);
    CHECK(efficiency_bracket(one, Seconds{0}, 100).low == Approx(1 / (1 + 0.1 * std::sqrt(2 * std::log(100.0)))));
}

TEST_CASE("ranks of a node reduce before nodes do")
{
    const Link fast{"within", Seconds{0}, ByteRate{10e9}};
    const Link slow{"between", Seconds{1e-3}, ByteRate{1e9}};
    const Seconds time = all_reduce_time(Bytes{1e9}, 4, 2, slow, fast);
    CHECK(time.value == Approx(0.1 + 6e-3 + 1.5));
    CHECK(all_reduce_time(Bytes{1e9}, 1, 1, slow, fast).value == 0);
}

TEST_CASE("prediction holds back the row that it is compared with")
{
    const double reduce = 1.5 * gradients / 1e9 + 6e-5;
    const ScalingPrediction fits = predicted(1 + reduce / 2, {2});
    REQUIRE(fits.held_out.size() == 1);
    CHECK(fits.held_out[0].fitted_on == "2 ranks");
    CHECK(fits.held_out[0].measured == Approx(1 / (1 + reduce / 2)).epsilon(0.02));
    CHECK(judge_bracket(fits.held_out[0].interval, fits.held_out[0].measured) == InBracket::inside);
    const ScalingPrediction slower = predicted(2 + reduce, {2});
    CHECK(judge_bracket(slower.held_out[0].interval, slower.held_out[0].measured) == InBracket::below);
    CHECK_THAT(to_text(slower), Contains("below: something unmodelled"));
}

TEST_CASE("a row of several ranks shows its work beside that of one rank, and what of the messages should be exposed")
{
    const double reduce = 1.5 * gradients / 1e9 + 6e-5;
    std::vector<Results> results{measured(2 + reduce)};
    results[0].rows[1].exposed.median = Seconds{reduce};
    const auto row = to_json(predict_scaling({.model = "alexnet", .nodes = {2}}, results))["held_out"][0];
    CHECK(row["work_ratio"].get<double>() == Approx(2).epsilon(0.02));
    CHECK(row["exposed_s"].get<double>() == Approx(reduce));
    CHECK(row["exposed_predicted_low_s"].get<double>() == Approx(0).margin(0.02));
    const double late = 0.01 * std::sqrt(2 * std::log(4.0));
    CHECK(row["exposed_predicted_high_s"].get<double>() == Approx(reduce + late).epsilon(0.05));
}

TEST_CASE("rows of weak and of strong scaling stand beside one rank with as many images as each of theirs")
{
    std::vector<Results> results{measured(1.5)};
    Measurement strong = step_row(4, 0.75);
    strong.point.set("scaling", "strong");
    strong.point.set("batch", "16");
    Measurement half = step_row(1, 0.6);
    half.point.set("batch", "4");
    for (const Measurement& row : {strong, half}) results[0].rows.insert(results[0].rows.begin(), row);
    const ScalingPrediction prediction = predict_scaling({.model = "alexnet", .nodes = {2}}, results);
    REQUIRE(prediction.held_out.size() == 2);
    CHECK_FALSE(prediction.held_out[0].is_strong);
    CHECK(prediction.held_out[0].images == Approx(4 * 8 / 1.5).epsilon(0.02));
    CHECK(prediction.held_out[0].measured == Approx(1 / 1.5).epsilon(0.02));
    CHECK(prediction.held_out[1].is_strong);
    CHECK(prediction.held_out[1].images == Approx(16 / 0.75).epsilon(0.02));
    CHECK(prediction.held_out[1].measured == Approx(0.6 / 0.75).epsilon(0.02));
    CHECK_THAT(to_text(prediction), Contains("strong") && Contains("speedup"));
}

TEST_CASE("a prediction beyond eight times of what was measured says so")
{
    const ScalingPrediction prediction = predicted(1.5, {2, 32, 33});
    REQUIRE(prediction.rows.size() == 3);
    CHECK(prediction.rows[1].remark.empty());
    CHECK_THAT(prediction.rows[2].remark, Contains("beyond 8 times"));
    CHECK(prediction.rows[2].interval.low < prediction.rows[0].interval.low);
    CHECK(prediction.rows[0].interval.low <= prediction.rows[0].bracket.low);
    CHECK(prediction.rows[0].bracket.high <= prediction.rows[0].interval.high);
    CHECK_FALSE(prediction.notes.empty());
}

TEST_CASE("without a row of one rank, or without messages, the error names what is missing")
{
    std::vector<Results> no_messages{measured(1.5)};
    no_messages[0].rows.resize(2);
    CHECK_THROWS_WITH(predict_scaling({.model = "alexnet", .nodes = {2}}, no_messages), Contains("no all-reduce"));
    const std::vector<Results> other{measured(1.5)};
    CHECK_THROWS_WITH(predict_scaling({.model = "vgg16", .nodes = {2}}, other), Contains("on one rank"));
}

TEST_CASE("published efficiencies lie in their brackets, or the model lacks something and that is said")
{
    // Gradients in fp32; a ring over all GPUs at the node's network rate, or at the rate of the links within a node (spec).
    const CsvTable table = read_csv(ROOF_SCALING_DATA);
    const auto number = [&](const std::vector<std::string>& row, const char* column) {
        return std::stod(row[table.column(column)]);
    };
    CHECK(table.rows.size() == 25);
    for (const std::vector<std::string>& row : table.rows) {
        const double step = number(row, "batch") / number(row, "one_images_per_s");
        const int devices = static_cast<int>(number(row, "devices"));
        const int within = static_cast<int>(number(row, "per_node"));
        const Link between{"network", Seconds{number(row, "between_alpha_s")},
                           ByteRate{number(row, "between_bytes_per_s")}};
        const Link inside{"links", Seconds{number(row, "within_alpha_s")}, ByteRate{number(row, "within_bytes_per_s")}};
        const Seconds reduce =
            all_reduce_time(Bytes{number(row, "gradient_bytes")}, devices / within, within, between, inside);
        const Bracket bracket = efficiency_bracket({Seconds{step}, Seconds{step / 3}, Seconds{0}}, reduce, devices);
        const double measured = number(row, "measured_images_per_s") / number(row, "one_images_per_s") / devices;
        INFO(row[0] << ", " << row[2] << ", " << devices << ": " << bracket.low << " to " << bracket.high
                    << ", measured " << measured);
        CHECK(name(judge_bracket(bracket, measured)) == row[table.column("finding")]);
    }
}
