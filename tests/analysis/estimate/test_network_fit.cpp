#include "analysis/estimate/network_fit.hpp"

#include "ert/base/error.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <random>

using namespace roof;
using namespace roof::analysis;

namespace {

constexpr double alpha = 20e-6;
constexpr double beta = 2e9;

/// Rows as the bench writes them: `messages` of the size in a launch, with 1% of noise.
Measurement row_of(const std::string& bench, const std::string& path, double size, int ranks, std::mt19937& random,
                   double rate = beta)
{
    std::normal_distribution<double> noise(1, 0.01);
    Measurement row;
    row.bench = bench;
    row.role = Role::bandwidth;
    row.device = "cpu";
    if (bench == "network") row.point.set("operation", "allreduce");
    row.point.set("path", path);
    row.point.set("size", std::to_string(static_cast<long long>(size)));
    const double steps = bench == "network" ? 2.0 * (ranks - 1) : 1;
    const double bytes = bench == "network" ? size * steps / ranks : size;
    const int messages = 8;
    row.work.compulsory = row.work.no_reuse = Bytes{bytes * messages};
    for (int i = 0; i < 9; ++i) {
        Sample sample;
        sample.seconds = Seconds{messages * (steps * alpha + bytes / rate) * noise(random)};
        row.samples.push_back(sample);
    }
    row.seconds = {row.samples[4].seconds, row.samples[4].seconds, row.samples[4].seconds, 9, 0};
    row.variant = "n" + path.substr(0, 1) + " n" + path.substr(path.size() - 1) + ", made";
    return row;
}

}  // namespace

TEST_CASE("latency and bandwidth of made messages come back within their intervals")
{
    std::mt19937 random(3);
    std::vector<Measurement> rows;
    for (const double size : {64.0, 4096.0, 65536.0, 1048576.0, 16777216.0})
        rows.push_back(row_of("network_pair", "0-1", size, 2, random));
    const NetworkFit fit = fit_network(messages_in(rows));
    CHECK(fit.alpha.median.value == Approx(alpha).epsilon(0.02));
    CHECK(fit.beta.median.value == Approx(beta).epsilon(0.02));
    CHECK(fit.alpha.low.value <= alpha);
    CHECK(fit.alpha.high.value >= alpha);
    CHECK(fit.misfit < 0.03);
    CHECK(fit.plateau.median.value == Approx(beta / (1 + alpha * beta / 16777216)).epsilon(0.02));
}

TEST_CASE("all-reduces over several numbers of ranks share one latency and one bandwidth")
{
    std::mt19937 random(4);
    std::vector<Measurement> rows;
    for (const int ranks : {2, 4, 8})
        for (const double size : {64.0, 65536.0, 16777216.0})
            rows.push_back(row_of("network", std::to_string(ranks) + "x1", size, ranks, random));
    const std::vector<MessagePoint> points = messages_in(rows);
    REQUIRE(points.size() == 9);
    CHECK(points.back().ranks == 8);
    CHECK(points.back().steps == 14);
    const NetworkFit fit = fit_network(points);
    CHECK(fit.alpha.median.value == Approx(alpha).epsilon(0.02));
    CHECK(fit.beta.median.value == Approx(beta).epsilon(0.02));
}

TEST_CASE("messages of one size allow no fit")
{
    std::mt19937 random(5);
    const std::vector<Measurement> rows{row_of("network_pair", "0-1", 64, 2, random)};
    CHECK_THROWS_AS(fit_network(messages_in(rows)), InputError);
}

TEST_CASE("of each pair of nodes the largest message is a link")
{
    std::mt19937 random(6);
    std::vector<Measurement> rows;
    for (const char* path : {"0-1", "0-2"})
        for (const double size : {64.0, 1048576.0}) rows.push_back(row_of("network_pair", path, size, 2, random));
    rows.push_back(row_of("network_pair", "1-3", 64, 2, random));
    rows.back().variant = "n1, made";
    const std::vector<MessagePoint> messages = messages_in(rows);
    const auto links = links_in(messages);
    REQUIRE(links.size() == 2);
    CHECK(links[0].first == "n0 n1");
    CHECK(links[1].first == "n0 n2");
    CHECK(links[0].second->rate.median.value == Approx(1048576 / (alpha + 1048576 / beta)).epsilon(0.02));
}
