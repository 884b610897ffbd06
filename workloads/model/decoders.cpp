// GPT-2 (Radford et al., 2019) as nanoGPT trains it: layer norm before each branch, trained positions, no dropout.
// Llama (Meta, 2023): RMS norms, rotary positions, heads of keys and values that serve several heads of queries each,
// gated products. Parameters have the names and order of Hugging Face's GPT2LMHeadModel, linear weights as [out][in];
// of Llama the norms come first, and queries, keys and values are one linear layer.
#include "workloads/model/decoders.hpp"

#include "ert/base/error.hpp"

#include <algorithm>

namespace roof::model {
namespace {

int norm(Graph& net, const std::string& name, const Decoder& of, int x)
{
    return net.norm(of.norm, name, x, of.epsilon);
}

/// `tokens`: of a sequence; decode: those in the caches.
int attention(Graph& net, const std::string& at, const Decoder& of, int y, int tokens, Use use)
{
    y = net.linear_of_positions(at + (of.is_llama ? ".qkv_proj" : ".c_attn"), y, (of.heads + 2 * of.kv_heads) * of.head,
                                of.qkv_bias);
    const bool decodes = use == Use::decode;
    if (of.is_rotary) y = net.rope(at + ".rotary", y, of.heads, of.theta, of.kv_heads, decodes ? tokens - 1 : 0);
    const int seen = of.window > 0 ? std::min(of.window, tokens) : tokens;
    y = decodes ? net.attention_over_cache(at, y, of.heads, of.kv_heads, seen)
                : net.attention(at, y, of.heads, true, of.kv_heads, seen);
    return net.linear_of_positions(at + (of.is_llama ? ".o_proj" : ".c_proj"), y, of.channels, of.output_bias);
}

int perceptron(Graph& net, const std::string& at, const Decoder& of, int x)
{
    const auto linear = [&](const char* name, int from, int channels) {
        return net.linear_of_positions(at + name, from, channels, of.mlp_bias);
    };
    if (!of.is_gated)
        return linear("c_proj", net.activation(of.activation, at + "act", linear("c_fc", x, of.hidden)), of.channels);
    const int gate = net.activation(of.activation, at + "act_fn", linear("gate_proj", x, of.hidden));
    return linear("down_proj", net.multiply(at + "multiply", gate, linear("up_proj", x, of.hidden)), of.channels);
}

int block(Graph& net, const std::string& at, const Decoder& of, int x, int tokens, Use use)
{
    const int y = norm(net, at + (of.is_llama ? "input_layernorm" : "ln_1"), of, x);
    const int attended = attention(net, at + (of.is_llama ? "self_attn" : "attn"), of, y, tokens, use);
    const int sum = net.add(at + "add_1", x, attended);
    const int z = norm(net, at + (of.is_llama ? "post_attention_layernorm" : "ln_2"), of, sum);
    return net.add(at + "add_2", sum, perceptron(net, at + "mlp.", of, z));
}

}  // namespace

Graph build(const Decoder& decoder, int tokens, Use use)
{
    const bool decodes = use == Use::decode, is_llama = decoder.is_llama;
    Graph net(decoder.name, {1, 1, decodes ? 1 : tokens});
    const int embedding = net.embedding(is_llama ? "embed_tokens" : "wte", 0, decoder.vocabulary, decoder.channels);
    const int positions = decoder.positions > 0 ? decoder.positions : tokens;
    const int longest = decoder.longest > 0 ? decoder.longest : positions;
    if (longest < tokens)
        throw InputError("tokens: " + decoder.name + " has " + std::to_string(longest) + " positions, fewer than " +
                         std::to_string(tokens) + " tokens");
    int x = decoder.is_rotary ? embedding : net.positions("wpe", embedding, positions, decodes ? tokens - 1 : 0);
    Decoder of_block = decoder;
    for (int k = 0; k < decoder.blocks; ++k) {
        of_block.window = k < decoder.whole_blocks ? 0 : decoder.window;
        x = block(net, (is_llama ? "layers." : "h.") + std::to_string(k) + ".", of_block, x, tokens, use);
    }
    if (use == Use::prefill) x = net.take_positions("last", x, tokens - 1, 1);
    net.linear_of_positions("lm_head", norm(net, is_llama ? "norm" : "ln_f", decoder, x), decoder.vocabulary, false,
                            decoder.is_tied ? embedding : -1);
    return net;
}

std::vector<Decoder> known_decoders()
{
    std::vector<Decoder> all;
    const auto gpt2 = [&](const char* name, int blocks, int channels, int heads) {
        all.push_back({.name = name,
                       .blocks = blocks,
                       .channels = channels,
                       .heads = heads,
                       .kv_heads = heads,
                       .head = channels / heads,
                       .hidden = 4 * channels,
                       .vocabulary = 50257,
                       .longest = 1024});
    };
    gpt2("gpt2", 12, 768, 12);
    gpt2("gpt2_medium", 24, 1024, 16);
    gpt2("gpt2_large", 36, 1280, 20);
    gpt2("gpt2_xl", 48, 1600, 25);
    all.push_back({.name = "llama_1b",
                   .is_llama = true,
                   .norm = LayerKind::rms_norm,
                   .is_rotary = true,
                   .is_gated = true,
                   .blocks = 16,
                   .channels = 2048,
                   .heads = 32,
                   .kv_heads = 8,
                   .head = 64,
                   .hidden = 8192,
                   .vocabulary = 128256,
                   .longest = 131072,
                   .activation = LayerKind::silu,
                   .theta = 500'000,
                   .qkv_bias = false,
                   .output_bias = false,
                   .mlp_bias = false});
    return all;
}

}  // namespace roof::model
