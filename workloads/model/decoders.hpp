// Decoders by their extents: those that are known by name, and any by its config.json.
#pragma once

#include "workloads/model/graph.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace roof::model {

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
