// The extents of a decoder from its config.json, by Hugging Face's keys and their usual values.
#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "ert/base/text.hpp"
#include "workloads/model/decoders.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <limits>

namespace roof::model {
namespace {

constexpr int largest = 1 << 20;  ///< that a key may say
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
        for (const char* key : {"add_cross_attention", "alibi", "qk_layernorm"})
            if (flag(key, false)) throw InputError(std::string("'") + key + "' is not read");
    }
    /// Gives the value of a key the name that others have for it.
    void rename(const char* from, const char* to)
    {
        if (has(from) && !has(to)) json_[to] = json_[from];
    }
    /// The first block that has no sliding window, counted from 1, if the file lists them.
    int first_whole_block(int usual) const
    {
        if (!has("layer_types") || !json_["layer_types"].is_array()) return number_or("sliding_window_pattern", usual);
        const auto& types = json_["layer_types"];
        return static_cast<int>(std::ranges::find(types, "full_attention") - types.begin()) + 1;
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
    int number(const char* key, int most = largest, int least = 1) const
    {
        if (!has(key)) refuse_without(key);
        if (!json_[key].is_number_integer() || json_[key] < least || json_[key] > most)
            throw InputError(std::string("'") + key + "' is not a whole number from " + std::to_string(least) + " to " +
                             std::to_string(most));
        return json_[key];
    }
    int number_or(const char* key, int usual, int least = 1) const
    {
        return has(key) ? number(key, largest, least) : usual;
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
        if (!json_[key].is_number() || !(json_[key] > 0) || json_[key] > 1e12)
            throw InputError(std::string("'") + key + "' is not a number above 0");
        return json_[key];
    }
    LayerKind activation(const char* key, const char* usual) const
    {
        const std::string named = word(key, usual);
        if (named == "gelu_new" || named == "gelu_pytorch_tanh") return LayerKind::gelu_tanh;
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
    if (head < 1 || head % 2 != 0 || head > largest / heads)
        throw InputError("a head of " + std::to_string(head) + " channels has no rotary positions");
    const bool bias = config.flag("attention_bias", false), mlp_bias = config.flag("mlp_bias", false);
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
            .output_bias = bias && !is_qwen,
            .mlp_bias = mlp_bias,
            .is_tied = config.flag("tie_word_embeddings", false)};
}

/// What Hugging Face's class of a model type fixes, and its usual values. `norms`: of a block.
struct Form {
    std::string_view type;
    bool is_rms, is_gated, is_parallel;
    int norms;
    bool qkv_bias, output_bias, mlp_bias, head_bias, is_tied;
    const char* activation;
};
constexpr std::array<Form, 17> forms{{
    {"codegen", false, false, true, 1, false, false, true, true, false, "gelu_new"},
    {"falcon", false, false, true, 1, false, false, false, false, true, "gelu"},
    {"gemma", true, true, false, 2, false, false, false, false, true, "gelu_tanh"},
    {"gemma2", true, true, false, 4, false, false, false, false, true, "gelu_tanh"},
    {"gemma3_text", true, true, false, 4, false, false, false, false, true, "gelu_tanh"},
    {"gpt_bigcode", false, false, false, 2, true, true, true, false, true, "gelu_tanh"},
    {"gpt_neox", false, false, true, 2, true, true, true, false, false, "gelu"},
    {"gptj", false, false, true, 1, false, false, true, true, false, "gelu_new"},
    {"granite", true, true, false, 2, false, false, false, false, false, "silu"},
    {"olmo2", true, true, false, 2, false, false, false, false, false, "silu"},
    {"opt", false, false, false, 2, true, true, true, false, true, "relu"},
    {"phi", false, false, true, 1, true, true, true, true, false, "gelu_new"},
    {"phi3", true, true, false, 2, false, false, false, false, false, "silu"},
    {"qwen3", true, true, false, 2, false, false, false, false, false, "silu"},
    {"smollm3", true, true, false, 2, false, false, false, false, true, "silu"},
    {"stablelm", false, true, false, 2, false, false, false, false, false, "silu"},
    {"starcoder2", false, false, false, 2, true, true, true, false, true, "gelu_tanh"},
}};

/// A decoder that is estimated by its counts alone. Rotary positions are counted of whole heads and in all blocks, factors not at all.
Decoder counted(Config config, const Form& form)
{
    const auto is = [&](std::string_view type) { return form.type == type; };
    for (const auto& [from, to] :
         std::vector<std::pair<const char*, const char*>>{{"n_embd", "hidden_size"},
                                                          {"n_positions", "max_position_embeddings"},
                                                          {"n_layer", "num_hidden_layers"},
                                                          {"n_head", "num_attention_heads"},
                                                          {"n_inner", "intermediate_size"},
                                                          {"ffn_dim", "intermediate_size"},
                                                          {"ffn_hidden_size", "intermediate_size"},
                                                          {"hidden_activation", "hidden_act"},
                                                          {"activation_function", "hidden_act"},
                                                          {"layer_norm_eps", "rms_norm_eps"},
                                                          {"layer_norm_epsilon", "rms_norm_eps"},
                                                          {"norm_epsilon", "rms_norm_eps"}})
        config.rename(from, to);
    const bool in_new_form = config.flag("new_decoder_architecture", false);
    if (in_new_form) config.rename("num_kv_heads", "num_key_value_heads");
    const int channels = config.number("hidden_size"), heads = config.number("num_attention_heads");
    const bool has_one = config.flag("multi_query", is("falcon") || is("gpt_bigcode")) && !in_new_form;
    const int kv_heads = has_one ? 1 : config.number_or("num_key_value_heads", heads);
    if (heads % kv_heads != 0) throw InputError("'num_attention_heads' is no multiple of 'num_key_value_heads'");
    const int head = config.number_or("head_dim", channels / heads);
    if (head < 2 || head % 2 != 0 || head > largest / heads)
        throw InputError("a head of " + std::to_string(head) + " channels has no rotary positions");
    if (config.number_or("word_embed_proj_dim", channels) != channels)
        throw InputError("'word_embed_proj_dim' is not 'hidden_size'");
    const bool all = config.flag("use_bias", config.flag("enable_bias", true));
    const bool is_parallel =
        form.is_parallel && config.flag("use_parallel_residual", config.flag("parallel_attn", true));
    const bool of_attention = config.flag("attention_bias", config.flag("bias", form.output_bias)) && all;
    const int period = is("gemma2") ? 2 : is("gemma3_text") ? 6 : 0;
    const bool slides = config.flag("use_sliding_window", !is("qwen3"));
    return {.is_llama = !is("gpt_bigcode"),
            .norm = form.is_rms ? LayerKind::rms_norm : LayerKind::layer_norm,
            .is_rotary = !is("opt") && !is("gpt_bigcode"),
            .is_gated = form.is_gated,
            .is_parallel = is_parallel,
            .norms = in_new_form || (form.is_parallel && !is_parallel) ? 2 : form.norms,
            .head_norm = is("olmo2")                        ? (heads + kv_heads) * head
                         : is("qwen3") || is("gemma3_text") ? 2 * head
                                                            : 0,
            .blocks = config.number("num_hidden_layers", most_blocks),
            .channels = channels,
            .heads = heads,
            .kv_heads = kv_heads,
            .head = head,
            .hidden = config.number_or("intermediate_size", 4 * channels),
            .vocabulary = config.number("vocab_size"),
            .positions = is("opt")           ? config.number("max_position_embeddings") + 2
                         : is("gpt_bigcode") ? config.number("n_positions")
                                             : 0,
            .longest = config.longest(),
            .window = slides ? config.number_or("sliding_window", 0) : 0,
            .whole_blocks = is("qwen3") ? config.number_or("max_window_layers", 28, 0) : 0,
            .period = period > 0 ? config.first_whole_block(period) : 0,
            .activation = config.activation("hidden_act", form.activation),
            .epsilon = config.real("rms_norm_eps", 1e-5F),
            .theta = config.real("rope_theta", 10000),
            .qkv_bias = config.has("attention_bias") || config.has("bias")
                            ? of_attention
                            : config.flag("use_qkv_bias", form.qkv_bias) && all,
            .output_bias = of_attention,
            .mlp_bias = config.flag("mlp_bias", config.flag("bias", form.mlp_bias)) && all,
            .is_tied = config.flag("tie_word_embeddings", form.is_tied),
            .head_bias = form.head_bias,
            .not_run = "a decoder of model type " + std::string(form.type) + " is estimated, not run"};
}

Decoder extents(const Config& config)
{
    const std::string kind = config.word("model_type");
    if (kind == "gpt2") return gpt2(config);
    if (kind == "llama") return llama(config, false, false);
    if (kind == "mistral") return llama(config, false, true);
    if (kind == "qwen2") return llama(config, true, config.flag("use_sliding_window", false));
    if (const auto form = std::ranges::find(forms, kind, &Form::type); form != forms.end())
        return counted(config, *form);
    std::vector<std::string> known{"gpt2", "llama", "mistral", "qwen2"};
    for (const Form& form : forms) known.emplace_back(form.type);
    throw InputError(unknown_word("model_type", kind, known));
}

}  // namespace

Decoder read_config(const std::filesystem::path& file)
{
    try {
        Decoder made = extents(Config(file));
        const bool is_usual = file.stem() == "config" && file.has_parent_path();
        made.name = (is_usual ? file.parent_path().filename() : file.stem()).string();
        return made;
    } catch (const InputError& error) {
        throw InputError("'" + file.string() + "': " + error.what());
    }
}

}  // namespace roof::model
