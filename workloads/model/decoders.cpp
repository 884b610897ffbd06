// GPT-2 (Radford et al., 2019) as nanoGPT trains it: layer norm before each branch, trained positions, no dropout.
// Llama (Meta, 2023): RMS norms, rotary positions, heads of keys and values that serve several heads of queries each,
// gated products. Parameters have the names and order of Hugging Face's GPT2LMHeadModel, linear weights as [out][in];
// of Llama the norms come first, and queries, keys and values are one linear layer.
#include "workloads/model/models.hpp"

#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "ert/base/text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <limits>

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

// The extents of a decoder from its config.json, by Hugging Face's keys and their usual values.

namespace {

constexpr int largest_number = 1 << 20;  ///< that a key may say
constexpr int most_blocks = 1024;

class Config {
  public:
    explicit Config(const std::filesystem::path& file)
    {
        constexpr std::size_t largest_file = std::size_t{1} << 20;  // a parsed value takes 16 times its bytes
        json_ = nlohmann::json::parse(read_file(file, largest_file), nullptr, false);
        if (!json_.is_object()) throw InputError("it is no JSON object");
        const nlohmann::json::json_pointer theta("/rope_parameters/rope_theta");  // where newer files have it
        if (json_.contains(theta)) json_["rope_theta"] = json_[theta];
        for (const char* key : {"add_cross_attention", "quantization_config"})
            if (flag(key, has(key) && json_[key].is_object()))
                throw InputError(std::string("'") + key + "' is not read" + elsewhere());
    }
    /// Whether the file asks for another network than `made`: other windows, or no last layer.
    void refuse_unless(const Decoder& made) const
    {
        const auto list = [&](const char* key) {
            return has(key) && json_[key].is_array() ? json_[key] : nlohmann::json::array();
        };
        const nlohmann::json types = list("layer_types");
        for (std::size_t k = 0; k < types.size(); ++k) {
            const bool slides = made.window > 0 && static_cast<int>(k) >= made.whole_blocks;
            if (types[k] != (slides ? "sliding_attention" : "full_attention"))
                throw InputError("'layer_types' is not read" + elsewhere());
        }
        const nlohmann::json classes = list("architectures");
        const auto has_head = [](const nlohmann::json& one) {
            const std::string name = one.is_string() ? one.get<std::string>() : "";
            return name.ends_with("ForCausalLM") || name.ends_with("LMHeadModel");
        };
        if (!classes.empty() && std::ranges::none_of(classes, has_head))
            throw InputError("'architectures' names a network without scores of tokens" + elsewhere());
    }
    static std::string elsewhere()
    {
        return ", and does not train here; 'roof estimate' counts it where PyTorch and transformers are installed: pip "
               "install \"measured-roof[estimate]\"";
    }
    bool has(const char* key) const { return json_.contains(key) && !json_[key].is_null(); }
    std::string word(const char* key, const char* usual = "") const
    {
        if (!has(key)) return usual;
        if (!json_[key].is_string()) throw InputError(std::string("'") + key + "' is no word");
        return json_[key];
    }
    bool flag(const char* key, bool usual) const
    {
        return has(key) && json_[key].is_boolean() ? bool(json_[key]) : usual;
    }
    int number(const char* key, int most = largest_number, int least = 1) const
    {
        if (!has(key)) refuse_without(key);
        if (!json_[key].is_number_integer() || json_[key] < least || json_[key] > most)
            throw InputError(std::string("'") + key + "' is not a whole number from " + std::to_string(least) + " to " +
                             std::to_string(most));
        return json_[key];
    }
    int number_or(const char* key, int usual, int least = 1) const
    {
        return has(key) ? number(key, largest_number, least) : usual;
    }
    /// Decoder::longest
    int longest() const
    {
        const char* key = "max_position_embeddings";
        return has(key) ? number(key, std::numeric_limits<int>::max()) : 0;
    }
    float real(const char* key, float usual) const
    {
        if (!has(key)) return usual;
        if (!(json_[key] > 0) || json_[key] > 1e12)  // words and lists are above all numbers, flags below
            throw InputError(std::string("'") + key + "' is not a number above 0");
        return json_[key];
    }
    LayerKind activation(const char* key, const char* usual) const
    {
        const std::string named = word(key, usual);
        if (named == "gelu_new" || named == "gelu_pytorch_tanh" || named == "gelu_fast") return LayerKind::gelu_tanh;
        if (named == "relu") return LayerKind::relu;
        for (const Activation& one : activations)
            if (name(one.kind) == named) return one.kind;
        throw InputError(std::string("'") + key + "': no activation '" + named + "' is known");
    }

  private:
    /// Other keys are legal, so they are looked at only then.
    [[noreturn]] void refuse_without(const std::string& key) const
    {
        std::vector<std::string> keys;
        for (const auto& pair : json_.items()) keys.push_back(pair.key());
        const std::string near = nearest(key, keys);
        throw InputError("it lacks '" + key + "'" + (near.empty() ? "" : "; is it '" + printable(near) + "'?"));
    }

    nlohmann::json json_;
};

Decoder gpt2(const Config& config)
{
    const int channels = config.number("n_embd"), heads = config.number("n_head");
    if (channels % heads != 0) throw InputError("'n_embd' is no multiple of 'n_head'");
    return {.blocks = config.number("n_layer", most_blocks),
            .channels = channels,
            .heads = heads,
            .kv_heads = heads,
            .head = channels / heads,
            .hidden = config.number_or("n_inner", 4 * channels),
            .vocabulary = config.number("vocab_size"),
            .positions = config.number("n_positions"),
            .activation = config.activation("activation_function", "gelu_new"),
            .epsilon = config.real("layer_norm_epsilon", 1e-5F),
            .is_tied = config.flag("tie_word_embeddings", true)};
}

/// `is_qwen`: queries, keys and values have a bias, and the first blocks no window.
Decoder llama(const Config& config, bool is_qwen, bool slides)
{
    const int channels = config.number("hidden_size"), heads = config.number("num_attention_heads");
    const int kv_heads = config.number_or("num_key_value_heads", heads);
    const int head = config.number_or("head_dim", channels / heads);
    if (heads % kv_heads != 0) throw InputError("'num_attention_heads' is no multiple of 'num_key_value_heads'");
    if (head == 0 || head % 2 != 0 || head > largest_number / heads)
        throw InputError("a head of " + std::to_string(head) + " channels has no rotary positions");
    const bool is_plain = !is_qwen && !slides;  // the classes of Mistral and Qwen read no such flags
    const bool bias = is_plain && config.flag("attention_bias", false);
    const bool mlp_bias = is_plain && config.flag("mlp_bias", false);
    return {.is_llama = true,
            .norm = LayerKind::rms_norm,
            .is_rotary = true,
            .is_gated = true,
            .blocks = config.number("num_hidden_layers", most_blocks),
            .channels = channels,
            .heads = heads,
            .kv_heads = kv_heads,
            .head = head,
            .hidden = config.number("intermediate_size"),
            .vocabulary = config.number("vocab_size"),
            .longest = config.longest(),
            .window = slides ? config.number_or("sliding_window", 0) : 0,
            .whole_blocks = is_qwen ? config.number_or("max_window_layers", 28, 0) : 0,
            .activation = config.activation("hidden_act", "silu"),
            .epsilon = config.real("rms_norm_eps", 1e-6F),
            .theta = config.real("rope_theta", 10000),
            .qkv_bias = bias || is_qwen,
            .output_bias = bias,
            .mlp_bias = mlp_bias,
            .is_tied = config.flag("tie_word_embeddings", false)};
}

Decoder extents(const Config& config)
{
    const std::string kind = config.word("model_type");
    if (kind == "gpt2") return gpt2(config);
    if (kind == "llama") return llama(config, false, false);
    if (kind == "mistral") return llama(config, false, true);
    if (kind == "qwen2") return llama(config, true, config.flag("use_sliding_window", false));
    throw InputError("model type '" + printable(kind) + "' is none of gpt2, llama, mistral and qwen2" +
                     Config::elsewhere());
}

}  // namespace

Decoder read_config(const std::filesystem::path& file)
{
    try {
        const Config config(file);
        Decoder made = extents(config);
        config.refuse_unless(made);
        const bool is_usual = file.stem() == "config" && file.has_parent_path();
        made.name = (is_usual ? file.parent_path().filename() : file.stem()).string();
        return made;
    } catch (const InputError& error) {
        throw InputError("'" + file.string() + "': " + error.what());
    }
}

}  // namespace roof::model
