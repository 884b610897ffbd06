// The families of networks. A new one is a file that defines its function, a declaration here, and a line in
// models.cpp.
#pragma once

#include "workloads/model/graph.hpp"

#include <functional>
#include <string>
#include <vector>

namespace roof::model {

struct Recipe {
    std::string name;                         ///< torchvision's, as the user writes it
    std::function<Graph(int classes)> build;  ///< of 3x224x224 images
};

inline constexpr Shape imagenet_image{3, 224, 224};

std::vector<Recipe> alexnet_family();
std::vector<Recipe> vgg_family();
std::vector<Recipe> resnet_family();

}  // namespace roof::model
