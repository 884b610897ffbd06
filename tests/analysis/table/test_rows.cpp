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

TEST_CASE("a GPU is named after its model, a group with its number, and a CPU after its machine")
{
    Machine machine;
    machine.name = "my-server";
    machine.devices = {{.name = "cpu", .kind = "cpu", .model = "Some CPU"},
                       {.name = "gpu:0", .kind = "gpu", .model = "Some GPU"},
                       {.name = "gpu:1", .kind = "gpu", .model = "Some GPU"}};
    CHECK(owner_of(machine, "cpu") == "my-server");
    CHECK(owner_of(machine, "gpu:1") == "Some GPU");
    CHECK(owner_of(machine, "gpu:0,1") == "2 x Some GPU");
    CHECK(owner_of(machine, "gpu:7") == "my-server");
}
