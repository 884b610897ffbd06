// The model list, the order of parameters and layers, and errors of a graph.
#include "ert/base/error.hpp"
#include "workloads/model/graph.hpp"

#include <catch2/catch.hpp>
#include <set>

using namespace roof;
using namespace roof::model;
using Catch::Contains;

TEST_CASE("the model list has fourteen networks")
{
    CHECK(model_names() == std::vector<std::string>{"alexnet", "vgg11", "vgg13", "vgg16", "vgg19", "vgg11_bn",
                                                    "vgg13_bn", "vgg16_bn", "vgg19_bn", "resnet18", "resnet34",
                                                    "resnet50", "resnet101", "resnet152", "vit_b_16", "vit_b_32",
                                                    "vit_l_16", "vit_l_32"});
    for (const std::string& name : model_names()) CHECK(build_model(name).name() == name);
}

TEST_CASE("an unknown model is an input error that lists the known models")
{
    CHECK_THROWS_AS(build_model("resnet81"), InputError);
    CHECK_THROWS_WITH(build_model("resnet81"), Contains("resnet81") && Contains("resnet18") && Contains("vgg16_bn"));
}

TEST_CASE("the number of classes changes the last layer only")
{
    const Graph ten = build_model("resnet18", 10);
    CHECK(ten.classes() == 10);
    CHECK(ten.parameter_count() == 11689512 - 990 * 513);
    CHECK_THROWS_AS(build_model("resnet18", 0), InputError);
}

TEST_CASE("a residual block's parameters are in PyTorch's order, the downsample last")
{
    std::vector<std::string> names;
    for (const Parameter& parameter : build_model("resnet18").parameters()) {
        if (parameter.name.starts_with("layer2.0.")) names.push_back(parameter.name.substr(9));
    }
    CHECK(names == std::vector<std::string>{"conv1.weight", "bn1.weight", "bn1.bias", "conv2.weight", "bn2.weight",
                                            "bn2.bias", "downsample.0.weight", "downsample.1.weight",
                                            "downsample.1.bias"});
}

TEST_CASE("a residual block's layers have torchvision's names, and its relu runs twice")
{
    const Graph graph = build_model("resnet18");
    std::vector<std::string> names;
    for (const Layer& layer : graph.layers()) {
        if (layer.name.starts_with("layer1.0.")) names.push_back(layer.name.substr(9));
    }
    CHECK(names == std::vector<std::string>{"conv1", "bn1", "relu", "conv2", "bn2", "add", "relu"});
}

TEST_CASE("a parameter has its layer and its shape")
{
    const Graph graph = build_model("alexnet");
    const std::vector<Parameter> parameters = graph.parameters();
    CHECK(parameters[0].shape == std::vector<int>{64, 3, 11, 11});
    CHECK(parameters[1].shape == std::vector<int>{64});
    CHECK(parameters[1].is_bias);
    CHECK(parameters[10].name == "classifier.1.weight");
    CHECK(parameters[10].shape == std::vector<int>{4096, 9216});
    CHECK(graph.layer(parameters[10].layer).name == "classifier.1");
}

TEST_CASE("an average pool over a map that already has the requested size is the identity")
{
    const Graph alexnet = build_model("alexnet");
    for (const Layer& layer : alexnet.layers()) {
        if (layer.kind == LayerKind::average_pool) CHECK(layer.window.size == 1);
    }
    const Graph resnet = build_model("resnet18");
    for (const Layer& layer : resnet.layers()) {
        if (layer.kind == LayerKind::average_pool) CHECK(layer.window.size == 7);
    }
}

TEST_CASE("a graph refuses layers whose shapes do not match")
{
    Graph graph("broken", {3, 8, 8});
    CHECK_THROWS_AS(graph.convolution("wide", 0, 4, {.size = 11, .stride = 1, .padding = 1}, false), std::logic_error);
    const int narrow = graph.convolution("narrow", 0, 4, {}, false);
    CHECK_THROWS_WITH(graph.add("sum", 0, narrow), Contains("sum") && Contains("narrow") && Contains("input"));
    CHECK_THROWS_AS(graph.average_pool("pool", 0, 3), std::logic_error);
}

TEST_CASE("every kind of layer has a different name")
{
    CHECK(name(LayerKind::input) == "input");
    CHECK(name(LayerKind::convolution) == "convolution");
    CHECK(name(LayerKind::average_pool) == "average_pool");
    CHECK(name(LayerKind::linear) == "linear");
    const auto table = names_of(LayerKind{});
    std::set<std::string_view> names;
    for (std::size_t kind = 0; kind < table.rows.size(); ++kind) names.insert(name(static_cast<LayerKind>(kind)));
    CHECK(names.size() == table.rows.size());
    CHECK_FALSE(names.contains("?"));
}
