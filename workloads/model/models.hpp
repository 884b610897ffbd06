// The networks that are known by name, and readers of others.
#pragma once

#include "workloads/model/graph.hpp"

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace roof::model {

struct Recipe {
    std::string name;                         ///< torchvision's name, as the user writes it
    std::function<Graph(int classes)> build;  ///< for images of 3x224x224
};

/// A family is a function in networks.cpp and its lines there.
std::vector<Recipe> image_networks();

/// True for the text of a map, which can replace a model's name.
bool is_layers_text(std::string_view model);
/// A network of a few layers, written as YAML in a plan (configs/README.md has the grammar):
/// "{name: small, image: [3, 32, 32], layers: [{convolution: {channels: 16, window: 3}}, relu, …]}".
/// Throws InputError with the layer that is wrong.
Graph read_layers(std::string_view text);

/// The network of an ONNX file (opset 7 and later, as PyTorch writes them), named after it. Only shapes are read:
/// training starts from its own values. A Softmax at the end belongs to the loss and is left out. Weights may be
/// missing from the file or stored outside; their shapes suffice. Throws InputError for a file that cannot be read or
/// has more than one input or output, and for operators that are not known, with each of them and its place. Throws
/// Unsupported where roof was built without ONNX.
Graph read_onnx(const std::filesystem::path& file);

}  // namespace roof::model
