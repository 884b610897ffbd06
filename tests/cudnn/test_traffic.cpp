// What a step moves through memory and how many kernels of its own it launches, counted from the operations of its
// program: each tensor that an operation reads or writes, once. docs/gpu_training.md has the table.
#include "tests/cudnn/host_training.hpp"
#include "workloads/model/models.hpp"

#include <catch2/catch.hpp>

#include <map>

using namespace roof;
using namespace roof::cudnn;

namespace {

struct Traffic {
    int launches = 0;
    double gigabytes = 0;
};

std::map<std::string, Traffic> traffic_of(const model::Graph& graph, const Settings& settings)
{
    const Written written(graph, settings, loops(false));
    std::map<std::string, Traffic> all;
    for (const Program::Stage& stage : written.program().stages()) {
        for (const roof::Operation& operation : stage.part.operations) {
            for (Traffic* const sum : {&all[operation.implementation], &all["all"]}) {
                ++sum->launches;
                sum->gigabytes += 1e-9 * operation.bytes.value;
            }
        }
    }
    return all;
}

}  // namespace

TEST_CASE("A step of ResNet-50 moves the bytes and launches the kernels that its page states")
{
    const auto all = traffic_of(model::build_model("resnet50"), {.batch = 256, .precision = Precision::bf16});
    for (const auto& [name, sum] : all)
        UNSCOPED_INFO(name << ": " << sum.launches << " launches, " << sum.gigabytes << " GB");
    CHECK(all.at("all").launches == 381);
    CHECK(all.at("all").gigabytes == Approx(88.41).margin(0.01));
    CHECK(all.at("loops").launches == 161);  // convolutions and products
    CHECK(all.at("loops").gigabytes == Approx(33.12).margin(0.01));
    // Twice the gradient and the source of each, and the source's gradient.
    CHECK(all.at("roof:norm_gradient").gigabytes == Approx(17.07).margin(0.01));
}

TEST_CASE("Gradients of convolutions are widened in one launch, or a bucket at a time where other ranks wait")
{
    const model::Graph graph = model::build_model("resnet50");
    Settings settings{.batch = 2, .precision = Precision::bf16};
    CHECK(traffic_of(graph, settings).at("roof:widen").launches == 1);
    settings.share = {.rank = 0, .ranks = 2};
    const int launches = traffic_of(graph, settings).at("roof:widen").launches;
    CHECK(launches > 10);
    CHECK(launches < 40);
    settings.precision = Precision::fp32;
    CHECK(!traffic_of(graph, settings).contains("roof:widen"));
}
