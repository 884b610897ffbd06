// ResNet-18/34/50/101/152 as in torchvision (arXiv:1512.03385; "v1.5": a bottleneck's stride is in its 3x3).
#include "workloads/model/models.hpp"

#include <array>

namespace roof::model {
namespace {

struct Configuration {
    std::string name;
    bool bottleneck;
    std::array<int, 4> blocks;  ///< number of blocks in each of the four stages
};

struct Block {
    std::string name;
    int width;   ///< channels inside the block
    int output;  ///< channels of its output
    int stride;
};

/// Appends a convolution without bias and a batch norm.
int normalised(Graph& net, const std::string& convolution, const std::string& norm, int x, int channels, Window window)
{
    return net.batch_norm(norm, net.convolution(convolution, x, channels, window, false));
}

int basic_branch(Graph& net, const Block& block, int x)
{
    const std::string at = block.name + ".";
    x = normalised(net, at + "conv1", at + "bn1", x, block.width, {.size = 3, .stride = block.stride, .padding = 1});
    x = net.relu(at + "relu", x);
    return normalised(net, at + "conv2", at + "bn2", x, block.output, {.size = 3, .stride = 1, .padding = 1});
}

int bottleneck_branch(Graph& net, const Block& block, int x)
{
    const std::string at = block.name + ".";
    const Window one{};
    x = normalised(net, at + "conv1", at + "bn1", x, block.width, one);
    x = net.relu(at + "relu", x);
    x = normalised(net, at + "conv2", at + "bn2", x, block.width, {.size = 3, .stride = block.stride, .padding = 1});
    x = net.relu(at + "relu", x);
    return normalised(net, at + "conv3", at + "bn3", x, block.output, one);
}

int residual_block(Graph& net, const Block& block, bool bottleneck, int x)
{
    const int branch = bottleneck ? bottleneck_branch(net, block, x) : basic_branch(net, block, x);
    int shortcut = x;
    if (block.stride != 1 || net.layer(x).output.channels != block.output) {
        const Window sample{.size = 1, .stride = block.stride, .padding = 0};
        shortcut = normalised(net, block.name + ".downsample.0", block.name + ".downsample.1", x, block.output, sample);
    }
    return net.relu(block.name + ".relu", net.add(block.name + ".add", branch, shortcut));
}

Graph resnet(const Configuration& configuration, int classes)
{
    Graph net(configuration.name, imagenet_image);
    int x = normalised(net, "conv1", "bn1", 0, 64, {.size = 7, .stride = 2, .padding = 3});
    x = net.relu("relu", x);
    x = net.max_pool("maxpool", x, {.size = 3, .stride = 2, .padding = 1});
    int width = 64;
    for (std::size_t stage = 0; stage < configuration.blocks.size(); ++stage, width *= 2) {
        for (int block = 0; block < configuration.blocks[stage]; ++block) {
            const std::string name = "layer" + std::to_string(stage + 1) + "." + std::to_string(block);
            const int output = configuration.bottleneck ? 4 * width : width;
            const int stride = stage > 0 && block == 0 ? 2 : 1;
            x = residual_block(net, {name, width, output, stride}, configuration.bottleneck, x);
        }
    }
    x = net.average_pool("avgpool", x, 1);
    x = net.flatten("flatten", x);
    net.linear("fc", x, classes);
    return net;
}

}  // namespace

std::vector<Recipe> resnet_family()
{
    std::vector<Recipe> recipes;
    for (const Configuration& row : std::vector<Configuration>{{"resnet18", false, {2, 2, 2, 2}},
                                                               {"resnet34", false, {3, 4, 6, 3}},
                                                               {"resnet50", true, {3, 4, 6, 3}},
                                                               {"resnet101", true, {3, 4, 23, 3}},
                                                               {"resnet152", true, {3, 8, 36, 3}}}) {
        recipes.push_back({row.name, [row](int classes) { return resnet(row, classes); }});
    }
    return recipes;
}

}  // namespace roof::model
