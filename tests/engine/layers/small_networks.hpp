// Networks small enough for loops, with every kind of layer and connection.
#pragma once

#include "workloads/model/graph.hpp"

#include <string>

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

}  // namespace roof::ir
