#include "analysis/estimate/node_scaling.hpp"

#include "analysis/estimate/machine_estimate.hpp"
#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "tests/fakes/read_csv.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
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

namespace {

/// A measured efficiency and its bracket.
struct Recorded {
    std::string series;
    Bracket bracket;
    double measured = 0;
};

/// Gradients in fp32; a third of the step forward; a ring over the nodes, and one within a node.
Recorded recorded(const std::string& series, double batch, double one, double many, int devices, int per_node,
                  double bytes, const Link& between, const Link& within)
{
    const double step = batch / one;
    const Seconds reduce = all_reduce_time(Bytes{bytes}, devices / per_node, per_node, between, within);
    return {series, efficiency_bracket({Seconds{step}, Seconds{step / 3}, Seconds{0}}, reduce, devices),
            many / one / devices};
}

/// The table of results/examples/scaling.md: each row's own links (spec).
std::vector<Recorded> published(std::vector<std::string>* findings = nullptr)
{
    const CsvTable table = read_csv(ROOF_SCALING_DATA "/published_scaling.csv");
    std::vector<Recorded> all;
    for (const std::vector<std::string>& row : table.rows) {
        const auto number = [&](const char* column) { return std::stod(row[table.column(column)]); };
        const auto link = [&](const std::string& where) {
            return Link{where, Seconds{number((where + "_alpha_s").c_str())},
                        ByteRate{number((where + "_bytes_per_s").c_str())}};
        };
        all.push_back(recorded(row[0] + row[1] + row[2] + row[3], number("batch"), number("one_images_per_s"),
                               number("measured_images_per_s"), static_cast<int>(number("devices")),
                               static_cast<int>(number("per_node")), number("gradient_bytes"), link("between"),
                               link("within")));
        if (findings != nullptr) findings->push_back(row[table.column("finding")]);
    }
    return all;
}

/// The rows of the table, then the others that were compared: their brackets and efficiencies in percent.
std::vector<Recorded> record()
{
    std::vector<Recorded> all = published();
    const CsvTable table = read_csv(ROOF_SCALING_DATA "/scaling_record.csv");
    for (const std::vector<std::string>& row : table.rows)
        all.push_back({row[0], {std::stod(row[2]) / 100, std::stod(row[3]) / 100}, std::stod(row[4]) / 100});
    return all;
}

/// Those whose series has an odd, or an even, place.
std::vector<Recorded> half_of(const std::vector<Recorded>& all, bool odd)
{
    std::vector<std::string> series;
    std::vector<Recorded> half;
    for (const Recorded& row : all) {
        if (series.empty() || series.back() != row.series) series.push_back(row.series);
        if (series.size() % 2 == (odd ? 1 : 0)) half.push_back(row);
    }
    return half;
}

double lowest_reach(const std::vector<Recorded>& rows)
{
    double reach = 1;
    for (const Recorded& row : rows) reach = std::min(reach, row.measured / row.bracket.low);
    return reach;
}

double share_inside(const std::vector<Recorded>& rows, double reach)
{
    const auto inside = std::ranges::count_if(rows, [&](const Recorded& row) {
        return judge_bracket({reach * row.bracket.low, row.bracket.high}, row.measured) == InBracket::inside;
    });
    return static_cast<double>(inside) / static_cast<double>(rows.size());
}

}  // namespace

TEST_CASE("published efficiencies lie in their brackets, or the model lacks something and that is said")
{
    std::vector<std::string> findings;
    const std::vector<Recorded> rows = published(&findings);
    CHECK(rows.size() == 25);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        INFO(rows[i].series << ": " << rows[i].bracket.low << " to " << rows[i].bracket.high << ", measured "
                            << rows[i].measured);
        CHECK(name(judge_bracket(rows[i].bracket, rows[i].measured)) == findings[i]);
    }
}

TEST_CASE("the interval reaches as far down as the half of the record that made it, and covers the other half")
{
    const std::vector<Recorded> all = record();
    CHECK(all.size() == 56);
    CHECK(share_inside(all, 1) == Approx(11.0 / 56));
    const std::vector<Recorded> made = half_of(all, true);
    const std::vector<Recorded> held_out = half_of(all, false);
    CHECK(published_reach == Approx(lowest_reach(made)).margin(0.005));
    CHECK(held_out.size() == 28);
    CHECK(share_inside(held_out, published_reach) == Approx(27.0 / 28));
    CHECK(share_inside(made, lowest_reach(held_out)) >= 0.9);  // the other way round
}

TEST_CASE("the interval covers nine tenths of a report of which it knows little")
{
    // DLPerf's report of October 2020: 8 V100 a node, 100 Gbit/s. The half that made the reach has nine of its 123
    // rows.
    const CsvTable table = read_csv(ROOF_SCALING_DATA "/dlperf_report.csv");
    const Link between{"network", Seconds{5e-6}, ByteRate{12.5e9}};
    const Link within{"links", Seconds{5e-6}, ByteRate{150e9}};
    std::vector<Recorded> rows;
    for (const std::vector<std::string>& row : table.rows) {
        const double parameters = row[0] == "bert-base" ? 110e6 : 25'557'032;
        rows.push_back(recorded(row[3], std::stod(row[2]), std::stod(row[5]), std::stod(row[6]), std::stoi(row[4]), 8,
                                4 * parameters, between, within));
    }
    CHECK(rows.size() == 123);
    CHECK(share_inside(rows, 1) == Approx(16.0 / 123));
    CHECK(share_inside(rows, published_reach) == Approx(115.0 / 123));
}

TEST_CASE("a prediction reaches as far below its model as published runs, or as measured rows of its own")
{
    const ScalingPrediction usual = predicted(1.1, {2});
    CHECK(usual.reach == published_reach);
    CHECK(usual.rows[0].interval.low <= published_reach * usual.rows[0].bracket.low);
    CHECK(usual.rows[0].interval.low > 0.9 * published_reach * usual.rows[0].bracket.low);
    const ScalingPrediction slow = predicted(5, {2});
    CHECK(slow.reach < 0.5);
    CHECK(slow.reach == Approx(slow.held_out[0].measured / slow.held_out[0].interval.low));
    CHECK_THAT(to_text(slow), Contains("a measured row above"));
}

TEST_CASE("of a single step and of single messages nothing is known of their scatter")
{
    std::vector<Results> results{measured(1.5)};
    for (Measurement& row : results[0].rows) row.samples.resize(1);
    const ScalingPrediction prediction = predict_scaling({.model = "alexnet", .nodes = {2}}, results);
    CHECK(std::isnan(prediction.one.sigma.value));
    CHECK(prediction.rows[0].bracket.low > 0);
    CHECK(std::isnan(prediction.between.alpha.high.value));
    CHECK_THAT(to_text(prediction), Contains("scatter not known") && Contains("[-, -]"));
    CHECK_THAT(network_text(results[0].rows), Contains("≥ 1.00 GB/s") || Contains("≥ "));
}
