// VGG-11/13/16/19 with and without batch norm, as in torchvision (arXiv:1409.1556, configurations A, B, D, E).
#include "workloads/model/models.hpp"

namespace roof::model {
namespace {

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

}  // namespace

std::vector<Recipe> vgg_family()
{
    const std::vector<std::pair<std::string, Stages>> configurations{
        {"vgg11", {{64}, {128}, {256, 256}, {512, 512}, {512, 512}}},
        {"vgg13", {{64, 64}, {128, 128}, {256, 256}, {512, 512}, {512, 512}}},
        {"vgg16", {{64, 64}, {128, 128}, {256, 256, 256}, {512, 512, 512}, {512, 512, 512}}},
        {"vgg19", {{64, 64}, {128, 128}, {256, 256, 256, 256}, {512, 512, 512, 512}, {512, 512, 512, 512}}}};
    std::vector<Recipe> recipes;
    for (const std::string ending : {"", "_bn"}) {
        for (const auto& [plain, stages] : configurations) {
            const std::string name = plain + ending;
            recipes.push_back({name, [name, stages = stages, batch_norm = !ending.empty()](int classes) {
                                   return vgg(name, stages, batch_norm, classes);
                               }});
        }
    }
    return recipes;
}

}  // namespace roof::model
