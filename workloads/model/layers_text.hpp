// A network of a few layers, written as YAML in a plan (configs/README.md has the grammar).
#pragma once

#include "workloads/model/graph.hpp"

#include <string_view>

namespace roof::model {

/// True for the text of a map, which can replace a model's name.
bool is_layers_text(std::string_view model);
/// The network of "{name: small, image: [3, 32, 32], layers: [{convolution: {channels: 16, window: 3}}, relu, …]}".
/// Throws InputError with the layer that is wrong.
Graph read_layers(std::string_view text);

}  // namespace roof::model
