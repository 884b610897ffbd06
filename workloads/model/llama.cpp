// Llama 3.2 1B (Meta, 2024): RMS norms before each branch, rotary positions, heads of keys and values that serve four heads of queries
// each, gated products, the embedding's weights also as those of the last layer. Queries, keys and values are one linear layer.
#include "workloads/model/models.hpp"

namespace roof::model {
namespace {

struct Size {
    std::string name;
    int blocks, channels, heads, kv_heads, hidden, vocabulary;
    float theta;
};

/// `tokens`: of a sequence; decode: those in the caches.
int block(Graph& net, const std::string& at, const Size& size, int x, int tokens, Use use)
{
    const int head = size.channels / size.heads;
    const int normed = net.norm(LayerKind::rms_norm, at + "input_layernorm", x);
    int y = net.linear_of_positions(at + "self_attn.qkv_proj", normed, (size.heads + 2 * size.kv_heads) * head, false);
    y = net.rope(at + "self_attn.rotary", y, size.heads, size.theta, size.kv_heads,
                 use == Use::decode ? tokens - 1 : 0);
    y = use == Use::decode ? net.attention_over_cache(at + "self_attn", y, size.heads, size.kv_heads, tokens)
                           : net.attention(at + "self_attn", y, size.heads, true, size.kv_heads);
    x = net.add(at + "add_1", x, net.linear_of_positions(at + "self_attn.o_proj", y, size.channels, false));
    y = net.norm(LayerKind::rms_norm, at + "post_attention_layernorm", x);
    const int gate = net.activation(LayerKind::silu, at + "mlp.act_fn",
                                    net.linear_of_positions(at + "mlp.gate_proj", y, size.hidden, false));
    y = net.multiply(at + "mlp.multiply", gate, net.linear_of_positions(at + "mlp.up_proj", y, size.hidden, false));
    return net.add(at + "add_2", x, net.linear_of_positions(at + "mlp.down_proj", y, size.channels, false));
}

Graph llama(const Size& size, int tokens, Use use)
{
    Graph net(size.name, {1, 1, use == Use::decode ? 1 : tokens});
    const int embedding = net.embedding("embed_tokens", 0, size.vocabulary, size.channels);
    int x = embedding;
    for (int k = 0; k < size.blocks; ++k) x = block(net, "layers." + std::to_string(k) + ".", size, x, tokens, use);
    if (use == Use::prefill) x = net.take_positions("last", x, tokens - 1, 1);
    net.linear_of_positions("lm_head", net.norm(LayerKind::rms_norm, "norm", x), size.vocabulary, false, embedding);
    return net;
}

}  // namespace

std::vector<TokenRecipe> llama_family()
{
    const Size size{"llama_1b", 16, 2048, 32, 8, 8192, 128256, 500'000};
    return {{size.name, 1024, [size](int tokens, Use use) { return llama(size, tokens, use); }}};
}

}  // namespace roof::model
