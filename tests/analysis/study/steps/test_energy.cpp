// What lasts, and joules; every number by hand.
#include "analysis/study/tables.hpp"
#include "analysis/table/fitted_text.hpp"
#include "tests/analysis/made.hpp"

#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::analysis;

namespace {

Estimate<Joules> joules(double median, double low, double high)
{
    return {{median}, {low}, {high}, 10, 0};
}

/// A launch of 10 ms, which lasts as 12.5 ms.
Measurement probe(Role role, double amount, double energy, const std::string& precision, const std::string& working_set)
{
    Measurement row;
    row.bench = role == Role::compute ? "flops" : "bandwidth";
    row.role = role;
    row.device = "cpu";
    row.point.set("operation", role == Role::compute ? "fma" : "load");
    if (!precision.empty()) row.point.set("precision", precision);
    row.point.set("threads", "2");
    if (!working_set.empty()) row.point.set("working_set", working_set);
    (role == Role::compute ? row.work.flops.value : row.work.compulsory.value) = amount;
    row.seconds = made::about<Seconds>(0.010);
    row.sustained.seconds = {{0.0125}, {0.0120}, {0.0130}, 10, 0};
    row.sustained.clock = {2.5e9};
    row.sustained.instant = {210};
    row.sustained.limit = {240};
    row.sustained.energy = joules(energy, 0.8 * energy, 1.25 * energy);
    return row;
}

/// 20 GFLOP/J in fp32, 2 GB/J from memory; the others serve another precision, another level and another number of
/// threads.
Study sustained_study()
{
    Measurement step = made::row();
    step.sustained.seconds = made::about<Seconds>(0.045);
    step.sustained.energy = joules(0.42, 0.40, 0.44);
    step.sustained.forward = joules(0.20, 0.19, 0.21);
    step.sustained.backward = joules(0.15, 0.14, 0.17);
    Study study = made::study({step, made::row("other")});
    Measurement alone = probe(Role::compute, 100e9, 1, "fp32", "");
    alone.point.set("threads", "1");
    study.sustained = {probe(Role::compute, 2e9, 0.1, "fp32", ""), probe(Role::bandwidth, 1e9, 0.5, "", "1073741824"),
                       probe(Role::compute, 100e9, 1, "fp64", ""), probe(Role::bandwidth, 100e9, 1, "", "1048576"),
                       alone};
    return study;
}

double value(const DataTable& table, std::size_t row, std::string_view column)
{
    return std::get<double>(table.cell(row, column).value);
}

}  // namespace

TEST_CASE("a step needs at least the joules of its parts at the most FLOPs or bytes per joule")
{
    Study study = sustained_study();
    const DataTable table = energy_table(study);
    // Forward: 1e9 FLOP at 20 GFLOP/J, then 8 MB at 2 GB/J.
    CHECK(value(table, 0, "least_j") == Approx(0.084));
    CHECK(value(table, 1, "least_j") == Approx(0.050 + 0.004));
    CHECK(value(table, 2, "least_j") == Approx(0.025));
    CHECK(value(table, 3, "least_j") == Approx(0.005));
    std::erase_if(study.sustained, [](const Measurement& row) { return row.role == Role::bandwidth; });
    CHECK(energy_table(study).cell(0, "least_j").is_absent);
}

TEST_CASE("the table of joules has each step that was repeated and its phases; what is unknown stays absent")
{
    const DataTable table = energy_table(sustained_study());
    REQUIRE(table.rows.size() == 4);
    const auto& energy = std::get<Spread>(table.cell(0, "joules").value);
    CHECK(energy.median == Approx(0.42));
    const auto& images = std::get<Spread>(table.cell(0, "images/J").value);
    CHECK(images.median == Approx(8 / 0.42));
    CHECK(images.low == Approx(8 / 0.44));
    CHECK(images.high == Approx(20));
    CHECK(value(table, 0, "of the energy roof") == Approx(0.084 / 0.42));
    CHECK(value(table, 1, "of the step") == Approx(0.20 / 0.42));
    CHECK(value(table, 1, "of the energy roof") == Approx(0.27));
    CHECK(table.cell(1, "images/J").is_absent);
    CHECK(table.cell(3, "part").text == "update");
    CHECK(table.cell(3, "joules").is_absent);
    CHECK(table.cell(3, "of the energy roof").is_absent);
    CHECK(table.cell(0, "known").text == "counter");
    CHECK(std::get<Spread>(table.cell(0, "what lasts").value).median == Approx(0.045));
    CHECK(table.cell(1, "what lasts").is_absent);
    CHECK(energy_table(made::study({made::row()})).empty());
    Study uncounted = sustained_study();
    uncounted.results.rows.front().sustained.energy = {};
    const DataTable one = energy_table(uncounted);
    REQUIRE(one.rows.size() == 1);
    CHECK(one.cell(0, "joules").is_absent);
    CHECK(one.cell(0, "known").is_absent);
}

TEST_CASE("what lasts stands beside the burst, with work per joule")
{
    const DataTable table = sustained_table(sustained_study());
    REQUIRE(table.rows.size() == 5);
    const auto& burst = std::get<Spread>(table.cell(0, "launches of milliseconds").value);
    CHECK(burst.median == Approx(200e9));
    const auto& lasting = std::get<Spread>(table.cell(0, "what lasts").value);
    CHECK(lasting.median == Approx(160e9));
    CHECK(lasting.low == Approx(2e9 / 0.013));
    CHECK(lasting.high == Approx(2e9 / 0.012));
    CHECK(value(table, 0, "of it") == Approx(0.8));
    const auto& per_joule = std::get<Spread>(table.cell(0, "per joule").value);
    CHECK(per_joule.median == Approx(20e9));
    CHECK(per_joule.low == Approx(16e9));
    CHECK(per_joule.high == Approx(25e9));
    CHECK(table.cell(0, "per joule").text == "20.0 GFLOP/J [16.0, 25.0]");
    CHECK(table.cell(1, "per joule").text == "2.00 GB/J [1.60, 2.50]");
    CHECK(value(table, 0, "power") == 210);
    CHECK(value(table, 0, "clock") == 2.5e9);
    Study unknown = sustained_study();
    unknown.sustained.front().sustained.energy = {};
    unknown.sustained.front().sustained.instant = {};
    const DataTable without = sustained_table(unknown);
    CHECK(without.cell(0, "per joule").is_absent);
    CHECK(without.cell(0, "power").is_absent);
    CHECK(without.cell(0, "energy_known").is_absent);
}

TEST_CASE("a damaged step has no joules")
{
    Study study = sustained_study();
    study.results.rows.front().status = Status::damaged;
    CHECK(energy_table(study).rows.empty());
}

TEST_CASE("joules of a network of tokens are told by sequences")
{
    Study study = sustained_study();
    for (Measurement& row : study.results.rows) row.point.set("tokens", "128");
    const DataTable table = energy_table(study);
    CHECK(table.cell(0, "sequences/J").text == "19.0 sequences/J [18.2, 20.0]");  // 8 in 0.42 J, 0.44 and 0.40
}
