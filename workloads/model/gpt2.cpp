// GPT-2 (Radford et al., 2019) as nanoGPT trains it: layer norm before each branch, causal attention, GELU by tanh, the embedding's
// weights also as those of the last layer, no dropout. Parameters have the names and order of Hugging Face's GPT2LMHeadModel, linear
// weights as [out][in].
#include "ert/base/error.hpp"
#include "workloads/model/models.hpp"

namespace roof::model {
namespace {

constexpr int vocabulary = 50257;

struct Size {
    std::string name;
    int blocks, channels, heads;
};

int block(Graph& net, const std::string& at, const Size& size, int x)
{
    int y = net.linear_of_positions(at + "attn.c_attn", net.layer_norm(at + "ln_1", x), 3 * size.channels);
    y = net.linear_of_positions(at + "attn.c_proj", net.attention(at + "attn", y, size.heads, true), size.channels);
    x = net.add(at + "add_1", x, y);
    y = net.linear_of_positions(at + "mlp.c_fc", net.layer_norm(at + "ln_2", x), 4 * size.channels);
    y = net.activation(LayerKind::gelu_tanh, at + "mlp.act", y);
    y = net.linear_of_positions(at + "mlp.c_proj", y, size.channels);
    return net.add(at + "add_2", x, y);
}

Graph gpt2(const Size& size, int tokens, Use use)
{
    if (use == Use::decode) throw InputError("phase decode: of llama_1b only, not of " + size.name);
    Graph net(size.name, {1, 1, tokens});
    const int embedding = net.embedding("wte", 0, vocabulary, size.channels);
    int x = net.positions("wpe", embedding);
    for (int k = 0; k < size.blocks; ++k) x = block(net, "h." + std::to_string(k) + ".", size, x);
    if (use == Use::prefill) x = net.take_positions("last", x, tokens - 1, 1);
    net.linear_of_positions("lm_head", net.layer_norm("ln_f", x), vocabulary, false, embedding);
    return net;
}

}  // namespace

std::vector<TokenRecipe> gpt2_family()
{
    std::vector<TokenRecipe> all;
    for (const Size& size : {Size{"gpt2", 12, 768, 12}, Size{"gpt2_medium", 24, 1024, 16},
                             Size{"gpt2_large", 36, 1280, 20}, Size{"gpt2_xl", 48, 1600, 25}}) {
        all.push_back({size.name, 1024, [size](int tokens, Use use) { return gpt2(size, tokens, use); }});
    }
    return all;
}

}  // namespace roof::model
