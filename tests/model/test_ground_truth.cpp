// Compares all models with torchvision: per layer where a table exists, and in total for all fourteen.
#include "tests/fakes/read_csv.hpp"
#include "workloads/model/graph.hpp"
#include "workloads/model/work.hpp"

#include <catch2/catch.hpp>
#include <map>

using namespace roof;
using namespace roof::model;

namespace {

const std::string data_folder = std::string(ROOF_TEST_DATA) + "/data/";

/// Reads a table row by row, with cells by column name.
class Rows {
  public:
    explicit Rows(const std::string& file) : table_(read_csv(data_folder + file)) {}
    std::size_t size() const { return table_.rows.size(); }
    const std::string& text(std::size_t row, std::string_view column) const
    {
        return table_.rows[row][table_.column(column)];
    }
    long long number(std::size_t row, std::string_view column) const { return std::stoll(text(row, column)); }

  private:
    CsvTable table_;
};

std::string shape_text(const Shape& shape, bool flat)
{
    const std::string channels = "1x" + std::to_string(shape.channels);
    return flat ? channels : channels + "x" + std::to_string(shape.height) + "x" + std::to_string(shape.width);
}

std::string twice(int extent)
{
    return std::to_string(extent) + "x" + std::to_string(extent);
}

LayerKind kind_of(const std::string& type)
{
    static const std::map<std::string, LayerKind> kinds{
        {"Input", LayerKind::input},
        {"Conv2d", LayerKind::convolution},
        {"BatchNorm2d", LayerKind::batch_norm},
        {"ReLU", LayerKind::relu},
        {"MaxPool2d", LayerKind::max_pool},
        {"AdaptiveAvgPool2d", LayerKind::average_pool},
        {"AdaptiveAvgPool2d(identity)", LayerKind::average_pool},
        {"Add", LayerKind::add},
        {"Flatten", LayerKind::flatten},
        {"Dropout", LayerKind::dropout},
        {"Linear", LayerKind::linear},
    };
    return kinds.at(type);
}

void check_shape(const Rows& truth, const Graph& graph, int index)
{
    const auto row = static_cast<std::size_t>(index);
    const Layer& layer = graph.layer(index);
    CHECK(layer.kind == kind_of(truth.text(row, "type")));
    if (const std::string& module = truth.text(row, "module"); !module.empty()) CHECK(layer.name == module);

    const std::string& expected = truth.text(row, "out_shape");
    const bool flat = std::count(expected.begin(), expected.end(), 'x') == 1;
    CHECK(shape_text(layer.output, flat) == expected);
    CHECK(layer.output.elements() == truth.number(row, "out_elems"));
    CHECK(layer.parameters(graph.input_shape(index)) == truth.number(row, "params"));
    if (layer.kind == LayerKind::convolution || layer.kind == LayerKind::max_pool) {
        CHECK(twice(layer.window.size) == truth.text(row, "kernel"));
        CHECK(twice(layer.window.stride) == truth.text(row, "stride"));
        CHECK(twice(layer.window.padding) == truth.text(row, "padding"));
    }
}

void check_edges(const Rows& truth, const Graph& graph, int index)
{
    std::string names;
    for (const int input : graph.layer(index).inputs) {
        names += (names.empty() ? "" : " ") + truth.text(static_cast<std::size_t>(input), "name");
    }
    CHECK(names == truth.text(static_cast<std::size_t>(index), "inputs"));
}

void check_work(const Rows& truth, const Graph& graph, int index)
{
    const auto row = static_cast<std::size_t>(index);
    const LayerWork work = work_of(graph, index, 1, Precision::fp32);
    CHECK(work.multiply_adds == truth.number(row, "macs"));
    CHECK(work.multiply_adds_unpadded == truth.number(row, "macs_nopad"));
    if (is_contraction(graph.layer(index).kind)) {
        CHECK(work.forward.flops.value == truth.number(row, "flops_fwd"));
        CHECK(work.backward_data.flops.value == truth.number(row, "flops_bwd_data"));
        CHECK(work.backward_weights.flops.value == truth.number(row, "flops_bwd_weight"));
    } else {
        CHECK(work.forward.flops.value == truth.number(row, "bn_relu_etc_fwd_ops"));
        CHECK(work.backward_data.flops.value == truth.number(row, "bn_relu_etc_bwd_ops"));
        CHECK(work.backward_weights.flops.value == 0);
    }
}

}  // namespace

TEST_CASE("every layer has torchvision's name, shape, edges, parameters and work")
{
    for (const std::string model : {"alexnet", "vgg16", "vgg11_bn", "resnet18", "resnet50"}) {
        const Rows truth("ground_truth_" + model + ".csv");
        const Graph graph = build_model(model);
        REQUIRE(graph.layers().size() == truth.size());
        for (int index = 0; index < static_cast<int>(truth.size()); ++index) {
            INFO(model << " " << graph.layer(index).name);
            check_shape(truth, graph, index);
            check_edges(truth, graph, index);
            check_work(truth, graph, index);
        }
    }
}

TEST_CASE("the totals of all fourteen models equal torchvision's exactly")
{
    const Rows truth("models.csv");
    REQUIRE(truth.size() == 14);
    for (std::size_t row = 0; row < truth.size(); ++row) {
        const Graph graph = build_model(truth.text(row, "model"));
        INFO(graph.name());
        CHECK(graph.parameter_count() == truth.number(row, "params"));
        CHECK(static_cast<long long>(graph.parameters().size()) == truth.number(row, "tensors"));

        long long multiply_adds = 0;
        long long unpadded_passes = 0;  // forward and both gradients, without the data gradient of the first layer
        for (int index = 0; index < static_cast<int>(graph.layers().size()); ++index) {
            const LayerWork work = work_of(graph, index, 1, Precision::fp32);
            multiply_adds += work.multiply_adds;
            unpadded_passes += work.multiply_adds_unpadded * (work.backward_data.flops.value > 0 ? 3 : 2);
        }
        CHECK(multiply_adds == truth.number(row, "macs"));
        CHECK(2 * unpadded_passes == truth.number(row, "train_flops_nopad"));

        const StepWork step = work_of(graph, 1, Precision::fp32);
        CHECK(step.forward.value == 2.0 * static_cast<double>(multiply_adds));
        CHECK(step.step().value == truth.number(row, "train_flops"));
        CHECK(step.update.value == 6.0 * static_cast<double>(graph.parameter_count()));
    }
}

TEST_CASE("the elementwise operations of a step are those of torchvision's layers")
{
    CHECK(work_of(build_model("alexnet"), 1, Precision::fp32).elementwise.value == 1226368 + 594816);
    CHECK(work_of(build_model("vgg11_bn"), 1, Precision::fp32).elementwise.value == 71450112 + 90659328);
    CHECK(work_of(build_model("resnet50"), 1, Precision::fp32).elementwise.value == 105745920 + 137682944);
}
