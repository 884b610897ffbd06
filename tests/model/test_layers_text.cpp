// Networks written as YAML in a plan.
#include "ert/base/error.hpp"
#include "workloads/model/graph.hpp"

#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::model;

namespace {

std::string text_of(const std::string& layers)
{
    return "{name: small, image: [3, 16, 16], layers: [" + layers + "]}";
}

std::string refusal_of(const std::string& text)
{
    try {
        build_model(text);
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("a network of layers is read with its names, shapes and parameters")
{
    const Graph graph = build_model(
        text_of("{convolution: {channels: 8, window: 3, padding: 2, dilation: 2, stride: 2, bias: false}}, batch_norm, "
                "{relu: {name: stem}}, {convolution: {channels: 8, window: 1, groups: 4}}, "
                "{add: {from: [convolution4, stem]}}, {slice: {first: 4, channels: 4}}, "
                "{multiply: {from: [slice6, slice6]}}, {concat: {from: [slice6, multiply7]}}, {shuffle: {groups: 2}}, "
                "{max_pool: {window: 2}}, {average_pool: {window: 2, stride: 1}}, average_pool, flatten, "
                "{dropout: {probability: 0.25}}, {linear: {features: 10, bias: false}}"));
    CHECK(graph.name() == "small");
    CHECK(graph.layers().size() == 16);
    CHECK(graph.layer(1).output == Shape{8, 8, 8});
    CHECK(graph.layer(1).window.dilation == 2);
    CHECK(graph.layer(5).inputs == std::vector{4, 3});
    CHECK(graph.layer(9).order == std::vector{0, 4, 1, 5, 2, 6, 3, 7});
    CHECK(graph.layer(10).output == Shape{8, 4, 4});
    CHECK(graph.layer(11).output == Shape{8, 3, 3});
    CHECK(graph.layer(12).output == Shape{8});
    CHECK(graph.layer(14).dropout == 0.25F);
    CHECK(graph.parameter_count() == 8 * 3 * 9 + 16 + 8 * 2 + 8 + 80);
}

TEST_CASE("norms have an epsilon, and a scale and a shift for each channel")
{
    const Graph graph =
        build_model(text_of("batch_norm, {layer_norm: {name: other, epsilon: 1e-6}}, layer_norm, average_pool"));
    CHECK(name(graph.layer(2).kind) == "layer_norm");
    CHECK(graph.layer(1).epsilon == 1e-5F);
    CHECK(graph.layer(2).epsilon == 1e-6F);
    CHECK(graph.layer(3).output == Shape{3, 16, 16});
    CHECK(graph.parameters()[2].name == "other.weight");
    CHECK(graph.parameters()[3].name == "other.bias");
    CHECK(graph.parameter_count() == 3 * 2 * 3);
    const Graph by_root = build_model(text_of("{rms_norm: {epsilon: 1e-6}}, average_pool"));
    CHECK(by_root.layer(1).epsilon == 1e-6F);
    CHECK(by_root.parameter_count() == 3);
    CHECK(by_root.layer(1).parameters(by_root.input_shape(1)) == 3);
    for (const char* const wrong : {"0", "-1e-5", "1", ".nan"})
        CHECK(refusal_of(text_of("{layer_norm: {epsilon: " + std::string(wrong) + "}}, average_pool")) ==
              "model: layer 1 (layer_norm): epsilon: more than 0 and less than 1");
}

TEST_CASE("networks of tokens have embeddings, values of positions and a label for each position")
{
    const std::string begin =
        "{name: small, image: [1, 1, 12], layers: [{embedding: {name: words, vocabulary: 30, channels: 8}}, ";
    const Graph graph = build_model(
        begin +
        "{positions: {count: 5}}, {linear: {features: 16, each_position: true}}, {linear: {features: 8, bias: false, "
        "each_position: true}}, {linear: {features: 30, bias: false, weights_of: words}}]}");
    CHECK(graph.vocabulary() == 30);
    CHECK(graph.labels_each() == 12);
    CHECK(graph.layer(3).output == Shape{16, 1, 12});
    CHECK(graph.layer(5).output == Shape{30, 1, 12});
    CHECK(graph.parameter_count() == 30 * 8 + 5 * 8 + 16 * 8 + 16 + 8 * 16);
    CHECK(refusal_of(begin + "{linear: {features: 30, weights_of: word}}]}") ==
          "model: layer 2 (linear): weights_of: unknown earlier layer 'word'; did you mean 'words'?; "
          "legal values: image, words");
    CHECK(refusal_of(begin + "{linear: {features: 31, weights_of: words}}]}") ==
          "model: layer 2 (linear): linear2 reads weights of 'words', which has others");
    CHECK(build_model(begin + "{positions: {count: 13}}]}").parameter_count() == 30 * 8 + 13 * 8);
    CHECK(refusal_of("{name: small, image: [3, 4, 4], layers: [{embedding: {vocabulary: 30, channels: 8}}]}") ==
          "model: layer 1 (embedding): embedding1 reads no numbers of tokens: the first layer does, of an input of one "
          "channel");
}

TEST_CASE("positions are taken one by one, and zeros where there are none")
{
    const Graph graph = build_model(text_of("{take_positions: {first: -1, count: 257}}, {take_positions: {count: 1}}"));
    CHECK(graph.layer(1).output == Shape{3, 1, 257});
    CHECK(graph.layer(1).first == -1);
    CHECK(graph.layer(2).output == Shape{3, 1, 1});
}

TEST_CASE("rotary positions leave the shape, and need an even number of channels in each head")
{
    const Graph graph = build_model(
        text_of("{convolution: {channels: 24, window: 1}}, {rope: {heads: 4, theta: 500000}}, rope, average_pool"));
    CHECK(graph.layer(2).output == Shape{24, 16, 16});
    CHECK(graph.layer(2).heads == 4);
    CHECK(graph.layer(2).theta == 500000);
    CHECK(graph.layer(3).heads == 1);
    CHECK(graph.layer(3).theta == 10000);
    CHECK(
        refusal_of(text_of("{convolution: {channels: 9, window: 1}}, rope, average_pool")) ==
        "model: layer 2 (rope): 9 channels are no queries, keys and values of 1 heads with an even number of channels "
        "each");
    CHECK(refusal_of(text_of("{convolution: {channels: 6, window: 1}}, {rope: {theta: 1}}, average_pool")) ==
          "model: layer 2 (rope): theta: more than 1");
}

TEST_CASE("attention reads queries, keys and values of its heads")
{
    const Graph graph =
        build_model(text_of("{convolution: {channels: 24, window: 1}}, {attention: {heads: 4, causal: true}}, "
                            "{convolution: {channels: 12, window: 1}}, attention, average_pool"));
    CHECK(graph.layer(2).output == Shape{8, 16, 16});
    CHECK(graph.layer(2).heads == 4);
    CHECK(graph.layer(2).causal);
    CHECK(graph.layer(4).output == Shape{4, 16, 16});
    CHECK(graph.layer(4).heads == 1);
    CHECK_FALSE(graph.layer(4).causal);
    CHECK(graph.layer(4).cached == 0);
    const Graph over_cache = build_model(
        "{name: net, image: [1, 1, 1], layers: [{embedding: {vocabulary: 9, channels: 16}}, "
        "{attention: {heads: 4, kv_heads: 2, cached: 7}}, {linear: {features: 9, each_position: true}}]}");
    CHECK(over_cache.layer(2).cached == 7);
    CHECK(over_cache.layer(2).output.channels == 8);
    const Graph shared =
        build_model(text_of("{convolution: {channels: 24, window: 1}}, {rope: {heads: 4, kv_heads: 1}}, "
                            "{attention: {heads: 4, kv_heads: 1}}, average_pool"));
    CHECK(shared.layer(3).output == Shape{16, 16, 16});
    CHECK(shared.layer(3).kv_heads == 1);
    CHECK(
        refusal_of(text_of("{convolution: {channels: 20, window: 1}}, {attention: {heads: 4, kv_heads: 3}}, "
                           "average_pool")) ==
        "model: layer 2 (attention): 20 channels are no queries, keys and values of 4 heads and 3 of keys and values");
    CHECK(refusal_of(text_of("{convolution: {channels: 24, window: 1}}, {attention: {heads: 3}}, average_pool")) ==
          "model: layer 2 (attention): 24 channels are no queries, keys and values of 3 heads");
}

TEST_CASE("every activation is a kind of layer without settings")
{
    for (const Activation& one : activations) {
        INFO(name(one.kind));
        const Graph graph = build_model(text_of(std::string(name(one.kind)) + ", average_pool"));
        CHECK(graph.layer(1).kind == one.kind);
        CHECK(graph.layer(1).output == Shape{3, 16, 16});
    }
}

TEST_CASE("a layer that is wrong is named by its place and kind, with what is legal")
{
    CHECK_THAT(
        refusal_of(text_of("relu, {convolutoin: {channels: 8}}")),
        Catch::Contains("model: layer 2: unknown kind of layer 'convolutoin'") && Catch::Contains("convolution"));
    CHECK_THAT(refusal_of(text_of("{convolution: {channels: 8}}")),
               Catch::Contains("layer 1 (convolution): window is missing"));
    CHECK_THAT(refusal_of(text_of("{convolution: {channels: 8, window: 3, paddin: 1}}")),
               Catch::Contains("unknown setting 'paddin'"));
    CHECK(refusal_of(text_of("{convolution: {chanels: 8, window: 3}}")) ==
          "model: layer 1 (convolution): unknown setting 'chanels'; did you mean 'channels'?; "
          "legal values: name, from, channels, window, stride, padding, dilation, groups, bias");
    CHECK_THAT(refusal_of(text_of("{average_pool: {stride: 2}}")), Catch::Contains("window is missing"));
    CHECK_THAT(refusal_of(text_of("{convolution: {channels: 0, window: 3}}")),
               Catch::Contains("channels: 0 is not a legal"));
    CHECK_THAT(refusal_of(text_of("{convolution: {channels: 8, window: 30}}")), Catch::Contains("does not fit"));
    CHECK_THAT(refusal_of(text_of("{relu: {from: stem}}")),
               Catch::Contains("unknown earlier layer 'stem'; legal values: image"));
    CHECK_THAT(refusal_of(text_of("{relu: {name: a}}, {relu: {name: a}}")), Catch::Contains("'a' exists already"));
    CHECK_THAT(refusal_of(text_of("{add: {from: image}}")), Catch::Contains("two layers are expected"));
    CHECK_THAT(refusal_of(text_of("[relu, relu]")), Catch::Contains("layer 1: a kind of layer"));
    CHECK_THAT(refusal_of(text_of("relu")), Catch::Contains("does not end in one value per class"));
    CHECK(refusal_of(text_of("{relu: {name: a}}, {relu: {name: b}}, {flatten: {from: a}}, {linear: {features: 4}}")) ==
          "model: no layer reads 'b', and it is not the last");
}

TEST_CASE("a network without a name, an image or layers is refused")
{
    CHECK_THAT(refusal_of("{name: a, image: [3, 16], layers: [relu]}"), Catch::Contains("three numbers"));
    CHECK_THAT(refusal_of("{name: a, image: [3, 16, 16]}"), Catch::Contains("layers is missing"));
    CHECK_THAT(refusal_of("{image: [3, 16, 16], name: a, layers: [relu]}"), Catch::Contains("first key is name"));
    CHECK_THAT(refusal_of("{name: 'a, b', image: [3, 16, 16], layers: [relu]}"), Catch::Contains("letters, digits"));
    CHECK_THAT(refusal_of("{name: a, size: 3, image: [3, 16, 16], layers: [relu]}"), Catch::Contains("unknown key"));
}
