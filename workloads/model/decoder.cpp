// A decoder by its config.json: GPT-2's and Llama's forms, operator by operator as eager PyTorch runs them over one sequence.
#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "ert/base/text.hpp"
#include "workloads/model/operations.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace roof::model {
namespace {

/// The most that a key may say.
constexpr long long largest = 1LL << 24;

class Config {
  public:
    explicit Config(const std::filesystem::path& file)
    {
        constexpr std::size_t largest_file = std::size_t{1} << 20;  // a parsed value takes 16 times its bytes
        json_ = nlohmann::json::parse(read_file(file, largest_file), nullptr, false);
        if (!json_.is_object()) throw InputError("it is no JSON object");
    }
    bool has(const char* key) const { return json_.contains(key) && !json_[key].is_null(); }
    std::string word(const char* key) const
    {
        return has(key) && json_[key].is_string() ? std::string(json_[key]) : "";
    }
    bool flag(const char* key, bool usual) const
    {
        return has(key) && json_[key].is_boolean() ? bool(json_[key]) : usual;
    }
    long long number(const char* key) const
    {
        if (!has(key)) throw InputError(std::string("it lacks '") + key + "'");
        if (!json_[key].is_number_integer() || json_[key] < 1 || json_[key] > largest)
            throw InputError(std::string("'") + key + "' is not a whole number from 1 to " + std::to_string(largest));
        return json_[key];
    }
    long long number(const char* key, long long usual) const { return has(key) ? number(key) : usual; }

  private:
    nlohmann::json json_;
};

/// Extents of one block; `hidden`: of its multilayer perceptron.
struct Extents {
    double tokens, width, heads, of_keys, head, hidden, words;
    Use use = Use::train;
    double context = 0;  ///< decode: positions of the caches; `tokens` is 1 then
};

class Decoder {
  public:
    Decoder(std::string name, const Extents& of) : of_(of)
    {
        made_.name = std::move(name);
        made_.inputs = of.tokens;
    }

    void embedding(const std::string& name, double words)
    {
        Operation& one = append(name, "embedding", of_.width, of_.width * words);
        one.read = 0;
        one.rows = one.written;
        one.moves = true;
        one.gradient_flops = 0;
    }
    void norm(const std::string& name, double constants)
    {
        Operation& one = append(name, "norm", of_.width, constants);
        one.flops = 8 * one.written;
        one.gradient_flops = 11 * one.written;
    }
    /// `is_tied`: to the embedding, whose parameters these are.
    void linear(const std::string& name, double in, double out, bool bias, bool is_tied = false)
    {
        Operation& one = append(name, "linear", out, in * out + (bias ? out : 0));
        one.is_contraction = true;
        one.read = of_.tokens * in;
        one.flops = one.gradient_flops = 2 * of_.tokens * in * out;
        if (!is_tied) return;
        made_.parameters -= one.parameters;
        one.parameters = 0;
    }
    /// FLOPs for each value of the result. `inputs`: values read for each that is written.
    void values(const std::string& name, const std::string& kind, double width, double flops, double inputs)
    {
        Operation& one = append(name, kind, width, 0);
        one.read = inputs * one.written;
        one.flops = one.gradient_flops = flops * one.written;
    }
    /// Of all pairs of query and key, and executed those up to each query, or as many before it as the window has.
    void attention(const std::string& name, long long window)
    {
        Operation& one = append(name, "attention", of_.heads * of_.head, 0);
        const double t = of_.use == Use::decode ? of_.context : of_.tokens;
        const double seen = window > 0 ? std::min(static_cast<double>(window), t) : t;
        one.is_contraction = true;
        if (of_.use == Use::decode) {
            const double own = 2 * of_.of_keys * of_.head;
            one.cached = seen * own;
            one.read = one.written + own + one.cached;
            one.written += own;
            one.flops = 4 * seen * of_.heads * of_.head;
            return;
        }
        one.read = one.written + 2 * t * of_.of_keys * of_.head;
        one.flops = 4 * t * t * of_.heads * of_.head;
        one.gradient_flops = 2.5 * one.flops;
        one.executed = (seen * (seen + 1) / 2 + (t - seen) * seen) / (t * t);
    }
    /// Prefill: what follows is of the last token of a sequence alone.
    void take_last()
    {
        if (of_.use == Use::prefill) of_.tokens = 1;
    }
    Operations take() { return std::move(made_); }

  private:
    Operation& append(const std::string& name, const std::string& kind, double width, double constants)
    {
        Operation& one = made_.all.emplace_back();
        one.name = name;
        one.kind = kind;
        one.output = {1, static_cast<long long>(of_.tokens), static_cast<long long>(width)};
        one.read = one.written = of_.tokens * width;
        one.constants = constants;
        one.parameters = static_cast<long long>(constants);
        made_.parameters += one.parameters;
        return one;
    }

    Extents of_;
    Operations made_;
};

Extents extents_of(Extents of, Use use)
{
    of.use = use;
    if (use == Use::decode) of.context = std::exchange(of.tokens, 1);
    return of;
}

Operations gpt2(const Config& config, const std::string& name, double tokens, Use use)
{
    const auto width = static_cast<double>(config.number("n_embd")),
               heads = static_cast<double>(config.number("n_head"));
    const auto hidden = static_cast<double>(config.number("n_inner", 4 * config.number("n_embd")));
    const auto words = static_cast<double>(config.number("vocab_size"));
    const long long positions = config.number("n_positions");
    if (static_cast<double>(positions) < tokens)
        throw InputError("it has " + std::to_string(positions) + " positions, fewer than tokens");
    Decoder made(name, extents_of({tokens, width, heads, heads, width / heads, hidden, words}, use));
    made.embedding("wte", words);
    made.embedding("wpe", static_cast<double>(positions));
    made.values("embeddings", "add", width, 1, 2);
    for (long long layer = 0; layer < config.number("n_layer"); ++layer) {
        const std::string at = "h." + std::to_string(layer) + ".";
        made.norm(at + "ln_1", 2 * width);
        made.linear(at + "attn.c_attn", width, 3 * width, true);
        made.attention(at + "attn", 0);
        made.linear(at + "attn.c_proj", width, width, true);
        made.values(at + "attn.add", "add", width, 1, 2);
        made.norm(at + "ln_2", 2 * width);
        made.linear(at + "mlp.c_fc", width, hidden, true);
        made.values(at + "mlp.act", "gelu_tanh", hidden, 8, 1);
        made.linear(at + "mlp.c_proj", hidden, width, true);
        made.values(at + "mlp.add", "add", width, 1, 2);
    }
    made.take_last();
    made.norm("ln_f", 2 * width);
    made.linear("lm_head", width, words, false, true);
    return made.take();
}

Operations llama(const Config& config, const std::string& name, double tokens, Use use, bool bias, bool slides)
{
    const long long heads = config.number("num_attention_heads"), of_keys = config.number("num_key_value_heads", heads);
    const long long head = config.number("head_dim", config.number("hidden_size") / heads);
    const Extents of{tokens,
                     static_cast<double>(config.number("hidden_size")),
                     static_cast<double>(heads),
                     static_cast<double>(of_keys),
                     static_cast<double>(head),
                     static_cast<double>(config.number("intermediate_size")),
                     static_cast<double>(config.number("vocab_size"))};
    const double queries = of.heads * of.head, keys = of.of_keys * of.head;
    const bool mlp_bias = config.flag("mlp_bias", false), attention_bias = config.flag("attention_bias", bias);
    const long long window = slides && config.has("sliding_window") ? config.number("sliding_window") : 0;
    Decoder made(name, extents_of(of, use));
    made.embedding("embed_tokens", of.words);
    for (long long layer = 0; layer < config.number("num_hidden_layers"); ++layer) {
        const std::string at = "layers." + std::to_string(layer) + ".";
        made.norm(at + "input_layernorm", of.width);
        made.linear(at + "self_attn.q_proj", of.width, queries, attention_bias);
        made.linear(at + "self_attn.k_proj", of.width, keys, attention_bias);
        made.linear(at + "self_attn.v_proj", of.width, keys, attention_bias);
        made.values(at + "self_attn.rotary", "rotary", queries + keys, 3, 1);
        made.attention(at + "self_attn", window);
        made.linear(at + "self_attn.o_proj", queries, of.width, attention_bias && !bias);
        made.values(at + "self_attn.add", "add", of.width, 1, 2);
        made.norm(at + "post_attention_layernorm", of.width);
        made.linear(at + "mlp.gate_proj", of.width, of.hidden, mlp_bias);
        made.linear(at + "mlp.up_proj", of.width, of.hidden, mlp_bias);
        made.values(at + "mlp.act", "silu", of.hidden, 4, 1);
        made.values(at + "mlp.mul", "multiply", of.hidden, 1, 2);
        made.linear(at + "mlp.down_proj", of.hidden, of.width, mlp_bias);
        made.values(at + "mlp.add", "add", of.width, 1, 2);
    }
    made.take_last();
    made.norm("norm", of.width);
    made.linear("lm_head", of.width, of.words, false, config.flag("tie_word_embeddings", false));
    return made.take();
}

}  // namespace

Operations read_decoder(const std::filesystem::path& file, const Sizes& sizes, Use use)
{
    try {
        const Config config(file);
        const std::string kind = config.word("model_type");
        const auto given = sizes.find("tokens");
        if (given == sizes.end()) throw InputError("a decoder needs the length of its sequences: --tokens 1024");
        const auto tokens = static_cast<double>(given->second);
        const std::string name = file.stem() == "config" && file.has_parent_path()
                                     ? file.parent_path().filename().string()
                                     : file.stem().string();
        if (kind == "gpt2") return gpt2(config, name, tokens, use);
        if (kind == "llama") return llama(config, name, tokens, use, false, false);
        if (kind == "mistral") return llama(config, name, tokens, use, false, true);
        if (kind == "qwen2") return llama(config, name, tokens, use, true, config.flag("use_sliding_window", false));
        const std::vector<std::string> known{"gpt2", "llama", "mistral", "qwen2"};
        throw InputError(unknown_word("model_type", kind, known));
    } catch (const InputError& error) {
        throw InputError("'" + file.string() + "': " + error.what());
    }
}

}  // namespace roof::model
