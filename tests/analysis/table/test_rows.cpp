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

TEST_CASE("steps of one model and batch are named by what they differ in")
{
    const auto step = [](const std::string& model, int batch,
                         std::initializer_list<std::pair<const char*, const char*>> more) {
        Measurement row;
        row.role = Role::step;
        row.bench = "train";
        row.device = "cpu";
        row.point.set("model", model);
        row.point.set("batch", std::to_string(batch));
        for (const auto& [axis, value] : more) row.point.set(axis, value);
        return row;
    };
    const std::vector<Measurement> rows{
        step("alexnet", 8, {{"threads", "1"}}),
        step("alexnet", 8, {{"threads", "1"}, {"ranks", "2"}, {"scaling", "weak"}}),
        step("alexnet", 8, {{"threads", "2"}, {"ranks", "2"}, {"scaling", "strong"}}),
        step("alexnet", 16, {{"threads", "2"}, {"precision", "fp32"}}),
        step("vgg16", 8, {{"threads", "2"}, {"precision", "fp32"}, {"batch_norm", "exact"}}),
        step("vgg16", 8, {{"threads", "2"}, {"precision", "bf16"}}),
    };
    std::vector<const Measurement*> all;
    for (const Measurement& row : rows) all.push_back(&row);
    const auto name = [&](std::size_t index) { return step_name(rows.at(index), all); };
    CHECK(name(0) == "alexnet b8, 1 rank, 1 thread");
    CHECK(name(1) == "alexnet b8 per rank, 2 ranks, 1 thread");
    CHECK(name(2) == "alexnet b8 in all, 2 ranks, 2 threads");
    CHECK(name(3) == "alexnet b16");
    CHECK(name(4) == "vgg16 b8, fp32, batch norm exact");
    CHECK(name(5) == "vgg16 b8, bf16");
    CHECK(step_name(rows[0], {}) == "alexnet b8");
}
