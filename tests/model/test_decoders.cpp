// Decoders by their config.json against the sizes that were published with their weights, formulas by hand, and the
// decoders known by name.
#include "ert/base/error.hpp"
#include "tests/fakes/temporary_folder.hpp"
#include "workloads/model/models.hpp"
#include "workloads/model/work.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <fstream>
#include <sstream>

using namespace roof;
using namespace roof::model;

namespace {

constexpr const char* gpt2 = R"({"model_type": "gpt2", "n_embd": 768, "n_head": 12, "n_layer": 12, "n_positions": 1024,
                                 "vocab_size": 50257})";
constexpr const char* llama_1b =
    R"({"model_type": "llama", "hidden_size": 2048, "intermediate_size": 8192, "num_attention_heads": 32,
        "num_hidden_layers": 16, "num_key_value_heads": 8, "head_dim": 64, "vocab_size": 128256, "rms_norm_eps": 1e-5,
        "rope_theta": 500000.0, "tie_word_embeddings": true, "attention_bias": false, "mlp_bias": false})";
constexpr const char* mistral =
    R"({"model_type": "mistral", "hidden_size": 64, "intermediate_size": 96, "num_attention_heads": 4,
        "num_hidden_layers": 1, "num_key_value_heads": 2, "vocab_size": 100, "sliding_window": 3})";
constexpr const char* qwen =
    R"({"model_type": "qwen2", "hidden_size": 64, "intermediate_size": 96, "num_attention_heads": 4,
        "num_hidden_layers": 2, "vocab_size": 100, "use_sliding_window": true, "sliding_window": 3,
        "max_window_layers": 1})";

/// With these keys; the last one of a name counts.
std::string with(std::string config, const std::string& more)
{
    return config.insert(config.size() - 1, ", " + more);
}

Graph decoder(const std::string& config, int tokens, Use use = Use::train)
{
    const fakes::TemporaryFolder folder;
    std::ofstream(folder / "made.json") << config;
    return build_model((folder / "made.json").string(), 1000, tokens, use);
}

int index_of(const Graph& graph, const std::string& name)
{
    return static_cast<int>(std::ranges::find(graph.layers(), name, &Layer::name) - graph.layers().begin());
}

LayerWork work_of(const Graph& graph, const std::string& name)
{
    return work_of(graph, index_of(graph, name), 1, Precision::fp32);
}

double products(const Graph& graph)
{
    return work_of(graph, 1, Precision::fp32).forward.value;
}

}  // namespace

TEST_CASE("GPT-2 by its config has its 124,439,808 parameters and the FLOPs of its products")
{
    const Graph all = decoder(gpt2, 1024);
    CHECK(all.parameter_count() == 124439808);
    const double t = 1024, d = 768;
    const double attention = 4 * t * t * d;
    CHECK(products(all) == 12 * (2 * t * 12 * d * d + attention) + 2 * t * d * 50257);
    const LayerWork one = work_of(all, "h.11.attn");
    CHECK(one.executed == (1024.0 * 1025 / 2) / (1024.0 * 1024));
    CHECK(one.backward_data.flops.value == 2.5 * attention);
    CHECK_THROWS_WITH(decoder(gpt2, 2048), Catch::Contains("has 1024 positions, fewer than 2048 tokens"));
}

TEST_CASE("A table of more positions than a sequence has is trained whole, and read as far as the sequence")
{
    const Graph all = decoder(gpt2, 100);
    CHECK(all.parameter_count() == 124439808);
    const LayerWork work = work_of(all, "wpe");
    const double map = 100 * 768, table = 1024 * 768;
    CHECK(work.forward.flops.value == map);
    CHECK(work.forward.compulsory == Bytes{4 * 3 * map});
    CHECK(work.backward_weights.compulsory == Bytes{4 * (map + table)});
    CHECK(work.update.flops.value == 6 * table);
}

TEST_CASE("A sequence longer than the positions that a decoder was made for is refused with their number")
{
    CHECK_NOTHROW(build_model("gpt2", 1000, 1024));
    CHECK_THROWS_WITH(build_model("gpt2", 1000, 1025), "tokens: gpt2 has 1024 positions, fewer than 1025 tokens");
    CHECK_THROWS_WITH(build_model("gpt2_xl", 1000, 5000, Use::decode), Catch::Contains("has 1024 positions"));
    CHECK_NOTHROW(build_model("llama_1b", 1000, 65536));
    CHECK_NOTHROW(decoder(mistral, 70));  // rotary positions have no bound but the one that a file states
    CHECK_THROWS_WITH(decoder(with(mistral, R"("max_position_embeddings": 64)"), 70),
                      "tokens: made has 64 positions, fewer than 70 tokens");
}

TEST_CASE("Llama 3.2 1B by its config has its 1,235,814,400 parameters, and attends with 8 heads of keys")
{
    const Graph all = decoder(llama_1b, 512);
    CHECK(all.parameter_count() == 1235814400);
    const double t = 512, d = 2048;
    const double block = 2 * t * (2 * d * d + 2 * d * 512 + 3 * d * 8192) + 4 * t * t * d;
    CHECK(products(all) == 16 * block + 2 * t * d * 128256);
    const LayerWork attention = work_of(all, "layers.3.self_attn");
    CHECK(attention.forward.compulsory - attention.forward.written == Bytes{4 * (t * d + 2 * t * 512)});
}

// transformers 5.24: MistralConfig(attention_bias=True, mlp_bias=True) and Qwen2Config(mlp_bias=True) make no more
// parameters than without.
TEST_CASE("Biases that a config names and its class of transformers has not are none")
{
    for (const auto& config : {mistral, qwen}) {
        const std::string more = with(config, R"("attention_bias": true, "mlp_bias": true)");
        CHECK(decoder(more, 8).parameter_count() == decoder(config, 8).parameter_count());
    }
    const std::string llama = with(mistral, R"("model_type": "llama", "attention_bias": true)");
    CHECK(decoder(llama, 8).parameter_count() > decoder(mistral, 8).parameter_count());
}

TEST_CASE("A decoder by its config is that of its name, layer by layer")
{
    for (const auto& [config, name] : {std::pair{gpt2, "gpt2"}, {llama_1b, "llama_1b"}}) {
        for (const Use use : {Use::train, Use::prefill, Use::decode}) {
            const Graph read = decoder(config, 1024, use), known = build_model(name, 1000, 1024, use);
            REQUIRE(read.layers().size() == known.layers().size());
            for (int k = 0; k < static_cast<int>(read.layers().size()); ++k) {
                const Layer &one = read.layer(k), &other = known.layer(k);
                INFO(one.name);
                CHECK(one.name == other.name);
                CHECK(one.kind == other.kind);
                CHECK(one.inputs == other.inputs);
                CHECK(one.output == other.output);
                CHECK(one.bias == other.bias);
                CHECK(one.first == other.first);
                CHECK(one.theta == other.theta);
                CHECK(one.epsilon == other.epsilon);
                CHECK(one.weights_of == other.weights_of);
            }
        }
    }
}

TEST_CASE(
    "A decoded token multiplies all weights once, and reads the caches of keys and values; a prompt has the scores of "
    "its last token")
{
    const double d = 2048, keys = 2 * 512, norms = (2 * 16 + 1) * d;
    const Graph token = decoder(llama_1b, 4096, Use::decode);
    CHECK(products(token) == 2 * (1235814400 - norms) + 16 * 4 * 4096 * d);
    const PassWork attention = work_of(token, "layers.0.self_attn").forward;
    CHECK(attention.compulsory - attention.written == Bytes{4 * (d + keys + 4096 * keys)});
    CHECK(attention.written == Bytes{4 * (d + keys)});
    const Graph prompt = decoder(llama_1b, 4096, Use::prefill);
    CHECK(products(decoder(llama_1b, 4096)) - products(prompt) == 2.0 * 4095 * d * 128256);
    CHECK(products(decoder(gpt2, 1024, Use::decode)) ==
          2.0 * (12 * 12 * 768 * 768 + 768 * 50257) + 12 * 4 * 1024 * 768);
}

TEST_CASE("A sliding window is executed alone, in the blocks that have one, and a decoded token reads as many")
{
    const Graph all = decoder(mistral, 5);
    CHECK(work_of(all, "layers.0.self_attn").executed == (1 + 2 + 3 + 3 + 3) / 25.0);
    CHECK(all.parameter_count() == 2 * 6400 + 64 + 2 * 64 + 2 * 4096 + 2 * 64 * 32 + 3 * 64 * 96);
    const Graph token = decoder(mistral, 5, Use::decode);
    CHECK(token.layer(index_of(token, "layers.0.self_attn")).cached == 3);
    CHECK(token.layer(index_of(token, "layers.0.self_attn.rotary")).first == 4);
    const Graph late = decoder(qwen, 5);
    CHECK(work_of(late, "layers.0.self_attn").executed == 15 / 25.0);
    CHECK(work_of(late, "layers.1.self_attn").executed == 12 / 25.0);
}

TEST_CASE("A config that asks for another network than trains here is refused, and the sentence says what counts it")
{
    for (const auto& [config, reason] : std::vector<std::pair<std::string, std::string>>{
             {R"({"model_type": "mixtral"})", "model type 'mixtral' is none of gpt2, llama, mistral and qwen2"},
             {with(llama_1b, R"("quantization_config": {"quant_method": "awq", "bits": 4})"),
              "'quantization_config' is not read"},
             {with(qwen, R"("layer_types": ["sliding_attention", "full_attention"])"), "'layer_types' is not read"},
             {with(mistral, R"("layer_types": ["full_attention"])"), "'layer_types' is not read"},
             {with(llama_1b, R"("architectures": ["LlamaForSequenceClassification"])"),
              "'architectures' names a network without scores of tokens"}}) {
        CHECK_THROWS_WITH(decoder(config, 5), Catch::Contains(reason) && Catch::Contains("roof estimate") &&
                                                  Catch::Contains("measured-roof[estimate]") &&
                                                  !Catch::Contains("did you mean"));
        CHECK_THROWS_AS(decoder(config, 5), InputError);
    }
    CHECK_NOTHROW(decoder(with(qwen, R"("layer_types": ["full_attention", "sliding_attention"])"), 5));
    CHECK_NOTHROW(decoder(with(llama_1b, R"("architectures": ["LlamaForCausalLM"], "quantization_config": null)"), 5));
}

TEST_CASE("A config that is no decoder's, or whose extents do not fit, is refused with its key")
{
    for (const auto& [config, reason] : std::vector<std::pair<std::string, std::string>>{
             {R"({"model_type": "lama"})", "is none of gpt2, llama, mistral and qwen2"},
             {R"({"model_type": 5})", "'model_type' is no word"},
             {R"({"model_type": "gpt2"})", "it lacks 'n_embd'"},
             {R"({"model_type": "gpt2", "n_emdb": 768})", "it lacks 'n_embd'; is it 'n_emdb'?"},
             {with(gpt2, R"("n_embd": 0)"), "'n_embd' is not a whole number from 1 to 1048576"},
             {with(gpt2, R"("n_embd": 768.5)"), "'n_embd' is not a whole number from 1 to 1048576"},
             {with(gpt2, R"("n_embd": 770)"), "'n_embd' is no multiple of 'n_head'"},
             {with(gpt2, R"("vocab_size": 1048577)"), "'vocab_size' is not a whole number from 1 to 1048576"},
             {with(gpt2, R"("n_layer": 1025)"), "'n_layer' is not a whole number from 1 to 1024"},
             {with(mistral, R"("sliding_window": 0)"), "'sliding_window' is not a whole number from 1 to 1048576"},
             {with(qwen, R"("max_window_layers": -1)"), "'max_window_layers' is not a whole number from 0 to 1048576"},
             {with(mistral, R"("max_position_embeddings": 2147483648)"), "is not a whole number from 1 to 2147483647"},
             {with(llama_1b, R"("num_key_value_heads": 7)"),
              "'num_attention_heads' is no multiple of 'num_key_value_heads'"},
             {with(llama_1b, R"("head_dim": 63)"), "a head of 63 channels has no rotary positions"},
             {with(llama_1b, R"("head_dim": 32770)"), "a head of 32770 channels has no rotary positions"},
             {with(mistral, R"("hidden_size": 3)"), "a head of 0 channels has no rotary positions"},
             {with(llama_1b, R"("rms_norm_eps": 0)"), "'rms_norm_eps' is not a number above 0"},
             {with(llama_1b, R"("rms_norm_eps": "1")"), "'rms_norm_eps' is not a number above 0"},
             {with(llama_1b, R"("rms_norm_eps": [])"), "'rms_norm_eps' is not a number above 0"},
             {with(llama_1b, R"("rms_norm_eps": true)"), "'rms_norm_eps' is not a number above 0"},
             {with(llama_1b, R"("rope_theta": 1000000000001)"), "'rope_theta' is not a number above 0"},
             {with(llama_1b, R"("hidden_act": "mish")"), "'hidden_act': no activation 'mish' is known"},
             {with(gpt2, R"("add_cross_attention": true)"), "'add_cross_attention' is not read"},
             {"{", "it is no JSON object"},
             {"[]", "it is no JSON object"}}) {
        CHECK_THROWS_WITH(decoder(config, 5), Catch::Contains(".json': ") && Catch::Contains(reason));
        CHECK_THROWS_AS(decoder(config, 5), InputError);
    }
}

TEST_CASE("Each key of a config is read, up to its limits, and a missing one has its usual value")
{
    const auto extents = [](const std::string& config) {
        const fakes::TemporaryFolder folder;
        std::ofstream(folder / "config.json") << config;
        const Decoder of = read_config(folder / "config.json");
        CHECK(of.name == std::filesystem::path(folder / "").parent_path().filename());
        std::ostringstream out;
        for (const int one : {of.blocks, of.channels, of.heads, of.kv_heads, of.head, of.hidden, of.vocabulary,
                              of.positions, of.longest, of.window, of.whole_blocks})
            out << one << ' ';
        out << name(of.activation) << ' ' << of.epsilon << ' ' << of.theta;
        for (const bool one :
             {of.is_llama, of.is_rotary, of.is_gated, of.qkv_bias, of.output_bias, of.mlp_bias, of.is_tied})
            out << (one ? " +" : " -");
        return out.str();
    };
    CHECK(extents(gpt2) == "12 768 12 12 64 3072 50257 1024 0 0 0 gelu_tanh 1e-05 10000 - - - + + + +");
    CHECK(extents(with(gpt2, R"("n_layer": 1024, "n_head": 1, "n_inner": 7, "vocab_size": 1048576, "n_positions": 9,
                                "activation_function": "relu", "layer_norm_epsilon": 0.5,
                                "tie_word_embeddings": false)")) ==
          "1024 768 1 1 768 7 1048576 9 0 0 0 relu 0.5 10000 - - - + + + -");
    CHECK(extents(mistral) == "1 64 4 2 16 96 100 0 0 3 0 silu 1e-06 10000 + + + - - - -");
    CHECK(extents(with(mistral, R"("model_type": "llama", "attention_bias": true, "mlp_bias": true,
                                   "num_key_value_heads": null, "max_position_embeddings": 2147483647,
                                   "rope_parameters": {"rope_theta": 1e12}, "hidden_act": "gelu_fast")")) ==
          "1 64 4 4 16 96 100 0 2147483647 0 0 gelu_tanh 1e-06 1e+12 + + + + + + -");
    CHECK(extents(with(llama_1b, R"("head_dim": 32768, "hidden_act": "gelu_pytorch_tanh")")) ==
          "16 2048 32 8 32768 8192 128256 0 0 0 0 gelu_tanh 1e-05 500000 + + + - - - +");
    CHECK(extents(with(qwen, R"("max_window_layers": 0, "attention_bias": true, "hidden_act": "gelu")")) ==
          "2 64 4 4 16 96 100 0 0 3 0 gelu 1e-06 10000 + + + + - - -");
    CHECK(extents(with(qwen, R"("use_sliding_window": null, "max_window_layers": null)")) ==
          "2 64 4 4 16 96 100 0 0 0 28 silu 1e-06 10000 + + + + - - -");
    for (const char* more : {R"("sliding_window": 1, "layer_types": ["sliding_attention"])",
                             R"("architectures": ["MistralModel", "MistralForCausalLM"])",
                             R"("architectures": ["GPT2LMHeadModel"], "quantization_config": null)"})
        CHECK_NOTHROW(extents(with(mistral, more)));
}
