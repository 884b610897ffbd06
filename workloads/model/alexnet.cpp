// AlexNet as in torchvision: the single-column variant of Krizhevsky, "One weird trick" (arXiv:1404.5997).
#include "workloads/model/models.hpp"

namespace roof::model {
namespace {

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

}  // namespace

std::vector<Recipe> alexnet_family()
{
    return {{"alexnet", alexnet}};
}

}  // namespace roof::model
