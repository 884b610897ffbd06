#include "analysis/study/tables.hpp"
#include "analysis/table/fitted_text.hpp"

#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::analysis;

namespace {

/// A step of 0.1 s. Several ranks have 3 ms of exposed and 7 ms of hidden communication.
Measurement row_of(const std::string& device, const std::vector<std::pair<std::string, std::string>>& values,
                   double seconds)
{
    Measurement row;
    row.bench = "train";
    row.device = device;
    row.point.set("model", "resnet18");
    row.point.set("batch", "8");
    for (const auto& [axis, value] : values) row.point.set(axis, value);
    row.seconds = {Seconds{seconds}, Seconds{seconds}, Seconds{seconds}, 1};
    Sample sample;
    sample.seconds = Seconds{seconds};
    row.samples.push_back(sample);
    if (row.ranks() == 1) return row;
    row.exposed.median = Seconds{3e-3};
    row.hidden.median = Seconds{7e-3};
    row.messages = Bytes{40e6};
    return row;
}

Study study_of(std::vector<Measurement> rows)
{
    Study study;
    study.results.rows = std::move(rows);
    return study;
}

}  // namespace

TEST_CASE("bus bandwidth is the traffic of each rank of a ring over the time of communication")
{
    CHECK(bus_bandwidth(row_of("cpu", {{"ranks", "4"}}, 0.1)).value == Approx(1.5 * 40e6 / 10e-3));
    CHECK(bus_bandwidth(row_of("cpu", {{"ranks", "4"}, {"communication", "broadcast"}}, 0.1)).value == Approx(4e9));
    CHECK(bus_bandwidth(row_of("cpu", {}, 0.1)).value == 0);
}

TEST_CASE("weak scaling is efficient if ranks take as long as one rank with its part of the threads")
{
    const Study study = study_of({row_of("cpu", {{"threads", "2"}}, 0.05), row_of("cpu", {{"threads", "1"}}, 0.1),
                                  row_of("cpu", {{"threads", "2"}, {"ranks", "2"}, {"bucket_mb", "5"}}, 0.125)});
    const std::vector<Scaling> found = scalings(study);
    REQUIRE(found.size() == 1);
    REQUIRE(found.front().alone == &study.results.rows[1]);
    CHECK(found.front().speedup == Approx(1.6));
    CHECK(found.front().efficiency == Approx(0.8));
}

TEST_CASE("the one rank may be in another folder of the report, of the same machine")
{
    std::vector<Study> studies{study_of({row_of("cpu", {{"threads", "1"}}, 0.1)}),
                               study_of({row_of("cpu", {{"threads", "2"}, {"ranks", "2"}}, 0.125)})};
    for (Study& study : studies) study.together = &studies;
    REQUIRE(scalings(studies[1]).front().alone == &studies[0].results.rows[0]);
    CHECK(scalings(studies[1]).front().speedup == Approx(1.6));
    studies[0].results.machine.name = "another";
    CHECK(scalings(studies[1]).front().alone == nullptr);
    studies[0].results.machine.name = {};
    studies[0].results.machine.node = "another";
    CHECK(scalings(studies[1]).front().alone == nullptr);
}

TEST_CASE("strong scaling is compared with one rank and the whole batch")
{
    const Study study =
        study_of({row_of("gpu:0", {}, 0.1), row_of("gpu:0,1", {{"ranks", "2"}, {"scaling", "strong"}}, 0.0625)});
    CHECK(scalings(study).front().speedup == Approx(1.6));
    CHECK(scalings(study).front().efficiency == Approx(0.8));
}

TEST_CASE("GPUs are compared with the fastest measured all-reduce, ranks of a CPU with none")
{
    Study study = study_of({row_of("gpu:0,1", {{"ranks", "2"}}, 0.1), row_of("cpu", {{"ranks", "2"}}, 0.1)});
    for (const double rate : {100e9, 300e9}) {
        Ceiling ceiling;
        ceiling.device = "gpu:0";
        ceiling.operation = "bus";
        ceiling.rate.median.value = rate;
        study.ceilings.all.push_back(ceiling);
    }
    const std::vector<Scaling> found = scalings(study);
    REQUIRE(found.front().link != nullptr);
    CHECK(found.front().link->rate.median.value == 300e9);
    CHECK(found.back().link == nullptr);
}

TEST_CASE("the table has empty cells without a row of one rank, and is empty without ranks")
{
    const std::string table = to_text(scaling_table(study_of({row_of("cpu", {{"ranks", "2"}}, 0.1)})));
    CHECK_THAT(table, Catch::Contains("resnet18"));
    CHECK_THAT(table, Catch::Contains("3.00 ms") && Catch::Contains("7.00 ms") && Catch::Contains("4.00 GB/s"));
    CHECK(scaling_table(study_of({row_of("cpu", {}, 0.1)})).empty());
}
