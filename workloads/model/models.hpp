// The families of networks. To add one: a file with its function, a declaration here, and a line in models.cpp.
#pragma once

#include "workloads/model/graph.hpp"

#include <functional>
#include <string>
#include <vector>

namespace roof::model {

struct Recipe {
    std::string name;                         ///< torchvision's name, as the user writes it
    std::function<Graph(int classes)> build;  ///< for images of 3x224x224
};

inline constexpr Shape imagenet_image{3, 224, 224};

std::vector<Recipe> alexnet_family();
std::vector<Recipe> vgg_family();
std::vector<Recipe> resnet_family();

}  // namespace roof::model
