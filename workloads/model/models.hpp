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

// Decoders by their extents: those that are known by name, and any by its config.json.

/// The extents of a decoder, GPT-2's form unless told.
struct Decoder {
    std::string name;
    bool is_llama = false;  ///< layers have the names of Llama's
    LayerKind norm = LayerKind::layer_norm;
    bool is_rotary = false, is_gated = false;
    int blocks = 0, channels = 0, heads = 0, kv_heads = 0;
    int head = 0;    ///< channels of a head
    int hidden = 0;  ///< channels within the perceptron of a block
    int vocabulary = 0;
    int positions = 0;     ///< GPT-2: rows of its table, at least as many as tokens; 0: as many as tokens
    int longest = 0;       ///< without such a table: tokens of a sequence at most; 0: any
    int window = 0;        ///< positions that a token reads, its own as the last; 0: all up to its own
    int whole_blocks = 0;  ///< blocks at the begin that have no window
    LayerKind activation = LayerKind::gelu_tanh;
    float epsilon = 1e-5F, theta = 10000;
    bool qkv_bias = true, output_bias = true, mlp_bias = true;  ///< output: of attention
    bool is_tied = true;                                        ///< the last layer has the embedding's weights
};

/// GPT-2 in four sizes, Llama 3.2 1B.
std::vector<Decoder> known_decoders();

/// A decoder by its config.json as published with its weights: the keys of Llama (num_hidden_layers, hidden_size, …) or
/// of GPT-2 (n_layer, n_embd, …), named after its folder. Throws InputError for a key that is missing or wrong, and for
/// a network that does not train here.
Decoder read_config(const std::filesystem::path& file);

/// The network for sequences of `tokens`. Throws InputError for more tokens than it has positions.
Graph build(const Decoder& decoder, int tokens, Use use);

}  // namespace roof::model
