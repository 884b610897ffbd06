// Networks small enough for loops, with every kind of layer and connection.
#pragma once

#include "workloads/model/graph.hpp"

#include <string>
#include <vector>

namespace roof::ir {

/// Convolutions with bias, pools with and without overlap, a linear layer after a map, dropout.
inline model::Graph plain_network()
{
    model::Graph net("plain", {3, 20, 20});
    int x = net.relu("relu1", net.convolution("conv1", 0, 16, {.size = 5, .stride = 2, .padding = 2}, true));
    x = net.max_pool("pool1", x, {.size = 3, .stride = 2, .padding = 0});
    x = net.batch_norm("bn2", net.convolution("conv2", x, 24, {.size = 3, .stride = 1, .padding = 1}, true));
    x = net.max_pool("pool2", net.relu("relu2", x), {.size = 2, .stride = 2, .padding = 0});
    x = net.dropout("drop", net.flatten("flat", net.average_pool("average", x, 2)), 0.5F);
    x = net.relu("relu3", net.linear("fc1", x, 40));
    net.linear("fc2", net.dropout("drop2", x, 0.5F), 10);
    return net;
}

/// Residual blocks with identity and with a convolution shortcut; a pool whose output has two readers.
inline model::Graph residual_network()
{
    const model::Window three{.size = 3, .stride = 1, .padding = 1};
    model::Graph net("residual", {3, 24, 24});
    const auto normalised = [&](const char* name, int from, int channels, model::Window window) {
        return net.batch_norm(std::string(name) + ".bn", net.convolution(name, from, channels, window, false));
    };
    int x = net.relu("relu", normalised("conv1", 0, 16, {.size = 7, .stride = 2, .padding = 3}));
    x = net.max_pool("pool", x, {.size = 3, .stride = 2, .padding = 1});
    int y = normalised("a.conv2", net.relu("a.relu", normalised("a.conv1", x, 16, three)), 16, three);
    x = net.relu("a.end", net.add("a.add", y, x));
    y = net.relu("b.relu", normalised("b.conv1", x, 32, {.size = 3, .stride = 2, .padding = 1}));
    y = normalised("b.conv2", y, 32, three);
    const int shortcut = normalised("b.shortcut", x, 32, {.size = 1, .stride = 2, .padding = 0});
    x = net.relu("b.end", net.add("b.add", y, shortcut));
    net.linear("fc", net.flatten("flat", net.average_pool("average", x, 1)), 10);
    return net;
}

/// Blocks of ResNet-50: shortcuts by a convolution of stride 1 and of stride 2, and none; a sum without a ReLU.
inline model::Graph bottleneck_network()
{
    const model::Window three{.size = 3, .stride = 1, .padding = 1};
    const model::Window one{.size = 1, .stride = 1, .padding = 0};
    model::Graph net("bottleneck", {3, 12, 12});
    const auto normalised = [&](const std::string& name, int from, int channels, model::Window window) {
        return net.batch_norm(name + ".bn", net.convolution(name, from, channels, window, false));
    };
    const auto branch = [&](const std::string& name, int from, int channels, int stride) {
        model::Window middle = three;
        middle.stride = stride;
        int x = net.relu(name + ".relu1", normalised(name + ".conv1", from, channels, one));
        x = net.relu(name + ".relu2", normalised(name + ".conv2", x, channels, middle));
        return normalised(name + ".conv3", x, 2 * channels, one);
    };
    int x = net.relu("relu", normalised("conv", 0, 16, three));
    int y = branch("a", x, 16, 1);
    x = net.relu("a.end", net.add("a.add", y, normalised("a.shortcut", x, 32, one)));
    y = branch("b", x, 16, 1);
    x = net.relu("b.end", net.add("b.add", y, x));
    y = branch("c", x, 24, 2);
    x = net.relu("c.end", net.add("c.add", y, normalised("c.shortcut", x, 48, {.size = 1, .stride = 2, .padding = 0})));
    y = branch("d", x, 24, 1);
    x = net.add("d.add", x, y);
    net.linear("fc", net.flatten("flat", net.average_pool("average", x, 1)), 10);
    return net;
}

/// The layers of mobile networks: convolutions in groups, depthwise and dilated, all activations, squeeze and
/// excitation, channels that are cut, shuffled and joined, an average pool of a part of the map, another epsilon, no
/// bias.
inline model::Graph mobile_network()
{
    using enum model::LayerKind;
    const model::Window three{.size = 3, .stride = 1, .padding = 1};
    const model::Window one{.size = 1, .stride = 1, .padding = 0};
    model::Graph net("mobile", {3, 24, 24});
    const auto normalised = [&](const std::string& name, int from, int channels, model::Window window, int groups = 1) {
        return net.batch_norm(name + ".bn", net.convolution(name, from, channels, window, false, groups), 1e-3F);
    };
    int x = normalised("stem", 0, 16, {.size = 3, .stride = 2, .padding = 1});
    x = net.activation(hard_swish, "stem.swish", x);
    int y = net.activation(relu6, "a.relu6", normalised("a.expand", x, 32, one));
    y = net.activation(silu, "a.silu", normalised("a.depth", y, 32, {.size = 5, .stride = 1, .padding = 2}, 32));
    int factor = net.convolution("a.reduce", net.average_pool("a.squeeze", y, 1), 8, one, true);
    factor = net.convolution("a.gate", net.relu("a.relu", factor), 32, one, true);
    y = net.multiply("a.excite", y, net.activation(hard_sigmoid, "a.hard", factor));
    x = net.add("a.add", normalised("a.project", y, 16, one), x);
    x = net.average_pool("a.pool", x, model::Window{.size = 3, .stride = 2, .padding = 0});
    const int left = net.slice("b.left", x, 0, 8);
    const int right = net.relu("b.relu", normalised("b.group", net.slice("b.right", x, 8, 8), 8, three, 2));
    x = net.concat("b.concat", {left, right});
    x = net.shuffle("b.shuffle", x, {0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15});
    y = net.slice("c.part", x, 3, 6);
    y = net.convolution("c.dilated", y, 16, {.size = 3, .stride = 1, .padding = 2, .dilation = 2}, true);
    y = net.activation(gelu, "c.gelu", y);
    y = net.multiply("c.product", y, net.activation(sigmoid, "c.sigmoid", y));
    x = net.average_pool("c.pool", net.concat("c.concat", {x, y}), model::Window{.size = 2, .stride = 2, .padding = 0});
    x = net.linear("fc1", net.activation(silu, "end", net.flatten("flat", x)), 24, false);
    x = net.linear("fc2", net.activation(model::LayerKind::tanh, "fc1.tanh", net.relu("fc1.relu", x)), 20, false);
    net.linear("fc3", net.activation(gelu_tanh, "fc2.gelu", net.activation(hard_swish, "fc2.swish", x)), 10);
    return net;
}

/// Blocks of depthwise convolutions and layer norms, as ConvNeXt's, over the channels of maps and over flattened
/// values; numbers of channels that no vector divides. `torch_parity.py` has the same network.
inline model::Graph layer_norm_network(int size = 24, int channels = 20, int classes = 10)
{
    const model::Window one{.size = 1, .stride = 1, .padding = 0};
    model::Graph net("layer_norm", {3, size, size});
    const auto block = [&](const std::string& name, int from, int wide) {
        int x = net.convolution(name + ".depth", from, wide, {.size = 5, .stride = 1, .padding = 2}, true, wide);
        x = net.convolution(name + ".expand", net.layer_norm(name + ".norm", x, 1e-6F), 2 * wide, one, true);
        x = net.convolution(name + ".project", net.activation(model::LayerKind::gelu, name + ".gelu", x), wide, one,
                            true);
        return net.add(name + ".add", x, from);
    };
    int x = net.convolution("stem", 0, channels, {.size = 4, .stride = 4, .padding = 0}, true);
    x = block("a", net.layer_norm("stem.norm", x), channels);
    x = net.convolution("down", net.layer_norm("down.norm", x), 2 * channels, {.size = 2, .stride = 2, .padding = 0},
                        true);
    x = net.relu("relu", net.layer_norm("relu.norm", block("b", x, 2 * channels)));
    x = net.layer_norm("head.norm", net.flatten("flat", net.average_pool("average", x, 1)), 1e-6F);
    net.linear("head", x, classes);
    return net;
}

/// Blocks as Llama's over the positions of a map: RMS norms, rotary positions, causal attention, and a product with a
/// gate. `torch_parity.py` has the same network.
inline model::Graph llama_network(int size = 24, int patch = 4, int channels = 24, int heads = 4, int classes = 10)
{
    const model::Window one{.size = 1, .stride = 1, .padding = 0};
    model::Graph net("llama", {3, size, size});
    const auto norm = [&](const std::string& name, int from) {
        return net.norm(model::LayerKind::rms_norm, name, from);
    };
    const auto product = [&](const std::string& name, int from, int outputs) {
        return net.convolution(name, from, outputs, one, false);
    };
    const int kv_heads = heads / 2;
    const auto block = [&](const std::string& name, int from) {
        int x = product(name + ".qkv", norm(name + ".norm1", from), channels + 2 * (channels / heads) * kv_heads);
        x = net.rope(name + ".rope", x, heads, 10000, kv_heads);
        x = product(name + ".project", net.attention(name + ".attention", x, heads, true, kv_heads), channels);
        const int middle = net.add(name + ".add1", x, from);
        x = norm(name + ".norm2", middle);
        const int gate =
            net.activation(model::LayerKind::silu, name + ".silu", product(name + ".gate", x, 2 * channels));
        x = net.multiply(name + ".multiply", gate, product(name + ".up", x, 2 * channels));
        return net.add(name + ".add2", product(name + ".down", x, channels), middle);
    };
    int x = net.convolution("stem", 0, channels, {.size = patch, .stride = patch, .padding = 0}, true);
    x = norm("norm", block("b", block("a", x)));
    net.linear("head", net.flatten("flat", net.average_pool("average", x, 1)), classes);
    return net;
}

/// Blocks of attention and of two products, as a vision transformer's, over the positions of a map; the second block is
/// causal. `torch_parity.py` has the same network.
inline model::Graph attention_network(int size = 24, int patch = 4, int channels = 20, int heads = 2, int classes = 10)
{
    const model::Window one{.size = 1, .stride = 1, .padding = 0};
    model::Graph net("attention", {3, size, size});
    const auto block = [&](const std::string& name, int from, bool causal) {
        int x = net.convolution(name + ".qkv", net.layer_norm(name + ".norm1", from), 3 * channels, one, true);
        x = net.convolution(name + ".project", net.attention(name + ".attention", x, heads, causal), channels, one,
                            true);
        const int middle = net.add(name + ".add1", x, from);
        x = net.convolution(name + ".expand", net.layer_norm(name + ".norm2", middle), 2 * channels, one, true);
        x = net.convolution(name + ".shrink", net.activation(model::LayerKind::gelu, name + ".gelu", x), channels, one,
                            true);
        return net.add(name + ".add2", x, middle);
    };
    int x = net.convolution("stem", 0, channels, {.size = patch, .stride = patch, .padding = 0}, true);
    x = net.layer_norm("norm", block("b", block("a", x, false), true));
    net.linear("head", net.flatten("flat", net.average_pool("average", x, 1)), classes);
    return net;
}

/// A flattened map that a linear layer, a slice and a concatenation read, by way of a ReLU.
inline model::Graph flattened_network()
{
    model::Graph net("flattened", {3, 8, 8});
    int x = net.convolution("conv", 0, 5, {.size = 3, .stride = 2, .padding = 1}, true);
    x = net.relu("relu", net.flatten("flat", x));  // of 5 x 4 x 4
    const int linear = net.linear("fc1", x, 16);
    const int part = net.multiply("product", net.slice("cut", x, 7, 16), linear);
    x = net.concat("join", {part, x, net.add("sum", linear, part)});
    x = net.linear("fc2", net.batch_norm("norm", x), 12);
    net.linear("fc3", x, 10);
    return net;
}

/// Ends in an average pool of a square map, with overlapping windows that end outside the map or have padding, windows
/// that are not square, joined branches, and maps that are resized; numbers of channels that no vector divides.
inline model::Graph squeeze_network()
{
    const model::Window three{.size = 3, .stride = 1, .padding = 1};
    const model::Window one{.size = 1, .stride = 1, .padding = 0};
    model::Graph net("squeeze", {3, 20, 20});
    int x = net.relu("relu1", net.convolution("conv1", 0, 12, {.size = 3, .stride = 2, .padding = 0}, true));
    x = net.max_pool("pool1", x, {.size = 3, .stride = 2, .padding = 0}, true);
    int left = net.relu("left.relu", net.convolution("left", x, 9, one, true));
    const model::Window wide{.size = 1, .width = 5, .padding_across = 2}, tall{.size = 3, .padding = 1, .width = 1};
    const int other = net.convolution("left.tall", net.convolution("left.wide", x, 8, wide, false), 9, tall, true);
    left = net.multiply("left.product", left, other);
    int right = net.relu("right.relu", net.convolution("right", x, 7, three, true));
    const int factor = net.activation(model::LayerKind::sigmoid, "gate", net.average_pool("squeeze", right, 1));
    right = net.multiply("right.excite", right, factor);
    x = net.average_pool("pool2", net.concat("join", {left, right}),
                         model::Window{.size = 3, .stride = 1, .padding = 1});
    const model::Window apart{.size = 1, .stride = 1, .width = 2, .stride_across = 2};  // another step across than down
    x = net.relu("relu2", net.convolution("conv2", x, 10, apart, true));
    x = net.relu("relu3", net.convolution("conv3", x, 10, {.size = 2, .stride = 2, .width = 1}, true));
    const int larger = net.convolution("conv4", net.resize("larger", x, 7, 5), 10, three, true);
    x = net.relu("relu4", net.resize("smaller", larger, 3, 3));
    net.flatten("flat", net.average_pool("average", x, 1));
    return net;
}

/// Blocks of a decoder: embedding, trained positions, causal attention, linear layers of each position, and a last
/// layer that reads the embedding's weights, unless `shared` is off. `torch_parity.py` has the same network.
inline model::Graph token_network(bool shared = true, int tokens = 24, int channels = 20, int heads = 2,
                                  int vocabulary = 37)
{
    model::Graph net("tokens", {1, 1, tokens});
    const int embedding = net.embedding("wte", 0, vocabulary, channels);
    int x = net.positions("wpe", embedding);
    for (const std::string name : {"blocks.0.", "blocks.1."}) {
        int y = net.linear_of_positions(name + "qkv", net.layer_norm(name + "norm1", x), 3 * channels);
        y = net.linear_of_positions(name + "project", net.attention(name + "attention", y, heads, true), channels);
        x = net.add(name + "add1", x, y);
        y = net.linear_of_positions(name + "expand", net.layer_norm(name + "norm2", x), 2 * channels);
        y = net.activation(model::LayerKind::gelu_tanh, name + "gelu", y);
        x = net.add(name + "add2", x, net.linear_of_positions(name + "shrink", y, channels));
    }
    x = net.layer_norm("norm", x);
    net.linear_of_positions("head", x, vocabulary, !shared, shared ? embedding : -1);
    return net;
}

/// A vision transformer's: a class token before the patches, trained positions, full attention, the token's position
/// alone at the end. `torch_parity.py` has the same network.
inline model::Graph vision_network(int size = 24, int patch = 8, int channels = 20, int heads = 2, int classes = 10)
{
    model::Graph net("vision", {3, size, size});
    int x = net.convolution("stem", 0, channels, {.size = patch, .stride = patch, .padding = 0}, true);
    x = net.take_positions("with_class", x, -1, (size / patch) * (size / patch) + 1);
    x = net.positions("positions", net.positions("class_token", x, 1));
    for (const std::string name : {"blocks.0.", "blocks.1."}) {
        int y = net.linear_of_positions(name + "qkv", net.layer_norm(name + "norm1", x, 1e-6F), 3 * channels);
        y = net.linear_of_positions(name + "project", net.attention(name + "attention", y, heads), channels);
        x = net.add(name + "add1", x, y);
        y = net.linear_of_positions(name + "expand", net.layer_norm(name + "norm2", x, 1e-6F), 4 * channels);
        y = net.activation(model::LayerKind::gelu, name + "gelu", y);
        x = net.add(name + "add2", x, net.linear_of_positions(name + "shrink", y, channels));
    }
    net.linear("head", net.take_positions("class", net.layer_norm("norm", x, 1e-6F), 0, 1), classes);
    return net;
}

/// Swin's blocks: attention in windows of a map that is rolled, with a trained number for each distance and neighbours
/// across the roll hidden, and four positions merged into one; numbers of channels that no vector divides.
inline model::Graph window_network(int channels = 20, int heads = 2)
{
    constexpr int size = 6, window = 3, across = 2 * window - 1, in_window = window * window;
    model::Graph net("windows", {3, 4 * size, 4 * size});
    const auto block = [&](const std::string& name, int from, int windows, const std::vector<int>& hidden) {
        std::vector<int> places;
        for (std::size_t k = 0; k < hidden.size() * in_window; ++k) {
            const int first = static_cast<int>(k) / in_window, query = first % in_window;
            const int key = static_cast<int>(k) % in_window;
            const int row =
                (query / window - key / window + window - 1) * across + query % window - key % window + window - 1;
            const bool is_seen =
                hidden[static_cast<std::size_t>(first)] == hidden[static_cast<std::size_t>(first - query + key)];
            places.push_back(is_seen ? row : -1);
        }
        const int all = net.layer(from).output.channels;
        int x = net.linear_of_positions(name + ".qkv", net.layer_norm(name + ".norm", from), 3 * all);
        x = net.attention_with_table(name + ".attention", x, heads, windows, across * across, places);
        return net.add(name + ".add", net.linear_of_positions(name + ".project", x, all), from);
    };
    const int map = net.convolution("stem", 0, channels, {.size = 4, .stride = 4, .padding = 0}, true);
    std::vector<int> rolled, back(size * size), merged, parts;
    for (int k = 0; k < size * size; ++k) {
        const int of_window = k / in_window, y = of_window / 2 * window + k % in_window / window;
        const int x = of_window % 2 * window + k % window;
        rolled.push_back((y + 1) % size * size + (x + 1) % size);
        back[static_cast<std::size_t>(rolled.back())] = k;
        parts.push_back(2 * (y == size - 1 ? 1 : 0) + (x == size - 1 ? 1 : 0));
        merged.push_back(2 * (k / 4 / 3 * size + k / 4 % 3) + k % 2 * size + k / 2 % 2);
    }
    int x = net.rearrange("windows", map, net.layer(map).output, rolled);
    x = net.rearrange("back", block("a", x, 4, parts), net.layer(map).output, back);
    x = net.rearrange("merge", net.add("sum", x, map), {4 * channels, size / 2, size / 2}, merged);
    x = net.linear_of_positions("reduce", x, 2 * channels, false);
    x = block("b", x, 1, std::vector<int>(in_window, 0));
    net.linear("head", net.flatten("flat", net.average_pool("average", net.layer_norm("norm", x), 1)), 10);
    return net;
}

}  // namespace roof::ir
