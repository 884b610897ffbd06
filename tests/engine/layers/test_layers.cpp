// The layers that the GPU's engine lacks: each is refused by its name and its layer before anything is made for the step.
#include "ert/base/error.hpp"
#include "tests/engine/layers/small_networks.hpp"
#include "workloads/engine/layers/layers.hpp"
#include "workloads/model/graph.hpp"

#include <catch2/catch.hpp>

#include <functional>

using namespace roof;
using namespace roof::ir;
using model::Graph;
using model::LayerKind;

namespace {

/// What is lacking for a convolution, then the layers that `add` appends to it, then a linear layer.
std::string lacking(const std::function<int(Graph&, int)>& add)
{
    Graph net("net", {3, 16, 16});
    const int first = net.convolution("conv", 0, 8, {.size = 3, .stride = 1, .padding = 1}, true);
    net.linear("last", net.flatten("flat", add(net, first)), 10);
    return lacking_layers(net).value_or("");
}

std::string lacking_activation(LayerKind kind)
{
    return lacking([kind](Graph& net, int x) { return net.activation(kind, "layer", x); });
}

}  // namespace

TEST_CASE("The GPU engine refuses each kind of layer that it lacks and names the layer")
{
    constexpr model::Window three{.size = 3, .stride = 1, .padding = 1};
    const auto sentence = [](const std::string& what) {
        return "the GPU's engine has no " + what + ", which 'layer' is";
    };
    CHECK(lacking([](Graph&, int x) { return x; }).empty());
    for (const LayerKind kind :
         {LayerKind::relu6, LayerKind::hard_swish, LayerKind::hard_sigmoid, LayerKind::silu, LayerKind::sigmoid})
        CHECK(lacking_activation(kind) == sentence(std::string(name(kind))));
    CHECK(lacking([](Graph& net, int x) { return net.concat("layer", {x, x}); }) == sentence("concat"));
    CHECK(lacking([](Graph& net, int x) { return net.multiply("layer", x, x); }) == sentence("multiply"));
    CHECK(lacking([](Graph& net, int x) { return net.slice("layer", x, 4, 4); }) == sentence("slice"));
    CHECK(lacking([](Graph& net, int x) {
              return net.shuffle("layer", x, {4, 5, 6, 7, 0, 1, 2, 3});
          }) == sentence("shuffle"));
    CHECK(lacking([&](Graph& net, int x) { return net.convolution("layer", x, 8, three, false, 8); }) ==
          sentence("convolution in groups"));
    CHECK(lacking([](Graph& net, int x) {
              return net.convolution("layer", x, 8, {.size = 3, .stride = 1, .padding = 2, .dilation = 2}, false);
          }) == sentence("dilated convolution"));
    CHECK(lacking([](Graph& net, int x) { return net.linear("layer", net.flatten("map", x), 8, false); }) ==
          sentence("linear layer without a bias"));
    CHECK(lacking([](Graph& net, int x) { return net.batch_norm("layer", x, 1e-3F); }) ==
          sentence("batch norm with another epsilon than 1e-5"));
    CHECK(lacking([](Graph& net, int x) {
              return net.average_pool("layer", x, model::Window{.size = 2, .stride = 2});
          }) == sentence("average pool of a part of the map"));
}

TEST_CASE("The GPU engine refuses a network that does not end in a linear layer")
{
    Graph net("net", {3, 16, 16});
    net.convolution("conv", 0, 8, {.size = 3, .stride = 1, .padding = 1}, true);
    CHECK(lacking_layers(net) == "the GPU's engine trains networks that end in a linear layer");
}

TEST_CASE("The GPU engine lacks nothing of the built-in networks")
{
    for (const std::string& name : model::model_names())
        CHECK(lacking_layers(model::build_model(name)).value_or("") == "");
    CHECK_FALSE(lacking_layers(plain_network()));
    CHECK_FALSE(lacking_layers(residual_network()));
}
