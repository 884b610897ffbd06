// What every table shows of a row's point.
#include "analysis/table/rows.hpp"

#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::analysis;

TEST_CASE("a network whose layers a plan has is shown by its name")
{
    Measurement row;
    row.bench = "train";
    CHECK(model_of(row) == "train");
    row.point.set("model", "resnet18");
    CHECK(model_of(row) == "resnet18");
    row.point.set("model", "{name: small-2, image: [3, 32, 32], layers: [flatten, {linear: {features: 10}}]}");
    CHECK(model_of(row) == "small-2");
}
