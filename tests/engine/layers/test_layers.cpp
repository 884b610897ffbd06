// What the layers of the program do not train is refused by its kind and its name before anything is made for the step.
#include "tests/engine/layers/small_networks.hpp"
#include "workloads/engine/layers/layers.hpp"
#include "workloads/model/models.hpp"

#include <catch2/catch.hpp>

#include <functional>

using namespace roof;
using namespace roof::ir;
using model::Graph;

namespace {

/// What is lacking for a flattened map of 8 channels, then the layers that `add` appends to it, then a linear layer.
std::string lacking(const std::function<int(Graph&, int)>& add)
{
    Graph net("net", {3, 16, 16});
    const int first = net.convolution("conv", 0, 8, {.size = 3, .stride = 1, .padding = 1}, true);
    net.linear("last", add(net, net.flatten("flat", first)), 10);
    return lacking_layers(net).value_or("");
}

}  // namespace

TEST_CASE("Layers that read PyTorch's order of a flattened map are refused, and those that treat values alike are not")
{
    const auto sentence = [](const std::string& what) {
        return "there is no " + what + " of a flattened map, which 'layer' is";
    };
    CHECK(lacking([](Graph&, int x) { return x; }).empty());
    CHECK(lacking([](Graph& net, int x) { return net.relu("layer", net.dropout("drop", x, 0.5F)); }).empty());
    CHECK(lacking([](Graph& net, int x) { return net.slice("layer", x, 4, 4); }) == sentence("slice"));
    CHECK(lacking([](Graph& net, int x) {
              return net.concat("layer", {net.relu("relu", x), x});
          }) == sentence("concat"));
    CHECK(lacking([](Graph& net, int x) {
              return net.concat("layer", {net.linear("fc", x, 8), x});
          }) == sentence("concat"));
    CHECK(lacking([](Graph& net, int x) { return net.slice("layer", net.linear("fc", x, 8), 4, 4); }).empty());
}

TEST_CASE("The layers lack nothing of the built-in networks and of those from ONNX files")
{
    for (const std::string& name : model::model_names())
        CHECK(lacking_layers(model::build_model(name)).value_or("") == "");
    for (const char* const name : {"densenet121", "efficientnet_b0", "googlenet", "mobilenet_v2", "mobilenet_v3_large",
                                   "resnext50_32x4d", "shufflenet_v2_x1_0", "squeezenet1_1"}) {
        const std::string file = std::string(ROOF_TEST_DATA) + "/../model/data/onnx/" + name + ".onnx";
        CHECK(lacking_layers(model::build_model(file)).value_or("") == "");
    }
    for (const Graph& graph : {plain_network(), residual_network(), mobile_network(), squeeze_network()})
        CHECK(lacking_layers(graph).value_or("") == "");
}
