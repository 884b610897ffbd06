// The networks of images that are known by name, as torchvision has them, for images of 3x224x224.
#include "workloads/model/models.hpp"

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace roof::model {
namespace {

constexpr Shape imagenet_image{3, 224, 224};

// AlexNet as in torchvision: the single-column variant of Krizhevsky, "One weird trick" (arXiv:1404.5997).

Graph alexnet(int classes)
{
    Graph net("alexnet", imagenet_image);
    const Window pool{.size = 3, .stride = 2, .padding = 0};
    const Window three{.size = 3, .stride = 1, .padding = 1};

    int x = net.convolution("features.0", 0, 64, {.size = 11, .stride = 4, .padding = 2}, true);
    x = net.relu("features.1", x);
    x = net.max_pool("features.2", x, pool);
    x = net.convolution("features.3", x, 192, {.size = 5, .stride = 1, .padding = 2}, true);
    x = net.relu("features.4", x);
    x = net.max_pool("features.5", x, pool);
    x = net.convolution("features.6", x, 384, three, true);
    x = net.relu("features.7", x);
    x = net.convolution("features.8", x, 256, three, true);
    x = net.relu("features.9", x);
    x = net.convolution("features.10", x, 256, three, true);
    x = net.relu("features.11", x);
    x = net.max_pool("features.12", x, pool);

    x = net.average_pool("avgpool", x, 6);
    x = net.flatten("flatten", x);
    x = net.dropout("classifier.0", x, 0.5F);
    x = net.linear("classifier.1", x, 4096);
    x = net.relu("classifier.2", x);
    x = net.dropout("classifier.3", x, 0.5F);
    x = net.linear("classifier.4", x, 4096);
    x = net.relu("classifier.5", x);
    net.linear("classifier.6", x, classes);
    return net;
}

// VGG-11/13/16/19 with and without batch norm, as in torchvision (arXiv:1409.1556, configurations A, B, D, E).

/// Channels of the 3x3 convolutions, stage by stage. A max pool ends each stage.
using Stages = std::vector<std::vector<int>>;

Graph vgg(const std::string& name, const Stages& stages, bool batch_norm, int classes)
{
    Graph net(name, imagenet_image);
    int module = 0;
    const auto next = [&module] { return "features." + std::to_string(module++); };

    int x = 0;
    for (const std::vector<int>& stage : stages) {
        for (const int channels : stage) {
            x = net.convolution(next(), x, channels, {.size = 3, .stride = 1, .padding = 1}, true);
            if (batch_norm) x = net.batch_norm(next(), x);
            x = net.relu(next(), x);
        }
        x = net.max_pool(next(), x, {.size = 2, .stride = 2, .padding = 0});
    }

    x = net.average_pool("avgpool", x, 7);
    x = net.flatten("flatten", x);
    x = net.linear("classifier.0", x, 4096);
    x = net.relu("classifier.1", x);
    x = net.dropout("classifier.2", x, 0.5F);
    x = net.linear("classifier.3", x, 4096);
    x = net.relu("classifier.4", x);
    x = net.dropout("classifier.5", x, 0.5F);
    net.linear("classifier.6", x, classes);
    return net;
}

// ResNet-18/34/50/101/152 as in torchvision (arXiv:1512.03385; "v1.5": a bottleneck's stride is in its 3x3).

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

// Vision transformers (Dosovitskiy et al., 2021) as in torchvision, for images of 3x224x224. A class token stands
// before the patches: a position of zeros to which a trained value is added. Parameters have torchvision's names; the
// class token is behind the first convolution.

struct Size {
    std::string name;
    int patch, blocks, channels, heads;
};

int block(Graph& net, const std::string& at, const Size& size, int x)
{
    constexpr float epsilon = 1e-6F;
    int y = net.linear_of_positions(at + "self_attention.in_proj", net.layer_norm(at + "ln_1", x, epsilon),
                                    3 * size.channels);
    y = net.attention(at + "self_attention", y, size.heads);
    x = net.add(at + "add_1", x, net.linear_of_positions(at + "self_attention.out_proj", y, size.channels));
    y = net.linear_of_positions(at + "mlp.0", net.layer_norm(at + "ln_2", x, epsilon), 4 * size.channels);
    y = net.linear_of_positions(at + "mlp.3", net.activation(LayerKind::gelu, at + "mlp.1", y), size.channels);
    return net.add(at + "add_2", x, y);
}

Graph vit(const Size& size, int classes)
{
    Graph net(size.name, imagenet_image);
    const Window patches{.size = size.patch, .stride = size.patch, .padding = 0};
    int x = net.convolution("conv_proj", 0, size.channels, patches, true);
    const Shape& map = net.layer(x).output;
    x = net.take_positions("with_class", x, -1, map.height * map.width + 1);
    x = net.positions("encoder.pos_embedding", net.positions("class_token", x, 1));
    for (int k = 0; k < size.blocks; ++k)
        x = block(net, "encoder.layers.encoder_layer_" + std::to_string(k) + ".", size, x);
    x = net.take_positions("class", net.layer_norm("encoder.ln", x, 1e-6F), 0, 1);
    net.linear("heads.head", x, classes);
    return net;
}

}  // namespace

std::vector<Recipe> image_networks()
{
    std::vector<Recipe> all{{"alexnet", alexnet}};
    const std::vector<std::pair<std::string, Stages>> configurations{
        {"vgg11", {{64}, {128}, {256, 256}, {512, 512}, {512, 512}}},
        {"vgg13", {{64, 64}, {128, 128}, {256, 256}, {512, 512}, {512, 512}}},
        {"vgg16", {{64, 64}, {128, 128}, {256, 256, 256}, {512, 512, 512}, {512, 512, 512}}},
        {"vgg19", {{64, 64}, {128, 128}, {256, 256, 256, 256}, {512, 512, 512, 512}, {512, 512, 512, 512}}}};
    for (const std::string ending : {"", "_bn"})
        for (const auto& [plain, stages] : configurations)
            all.push_back({plain + ending, [name = plain + ending, stages = stages, ending](int classes) {
                               return vgg(name, stages, !ending.empty(), classes);
                           }});
    for (const Configuration& row : std::vector<Configuration>{{"resnet18", false, {2, 2, 2, 2}},
                                                               {"resnet34", false, {3, 4, 6, 3}},
                                                               {"resnet50", true, {3, 4, 6, 3}},
                                                               {"resnet101", true, {3, 4, 23, 3}},
                                                               {"resnet152", true, {3, 8, 36, 3}}})
        all.push_back({row.name, [row](int classes) { return resnet(row, classes); }});
    for (const Size& size : {Size{"vit_b_16", 16, 12, 768, 12}, Size{"vit_b_32", 32, 12, 768, 12},
                             Size{"vit_l_16", 16, 24, 1024, 16}, Size{"vit_l_32", 32, 24, 1024, 16}})
        all.push_back({size.name, [size](int classes) { return vit(size, classes); }});
    return all;
}

}  // namespace roof::model
