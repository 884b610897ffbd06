// One token after caches of keys and values, which runs forward only: as transformers computes it in double, and by
// plain loops.
#include "tests/engine/layers/host_training.hpp"
#include "tests/engine/layers/small_networks.hpp"
#include "tests/engine/reference.hpp"
#include "workloads/data/source.hpp"
#include "workloads/onednn/step.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace roof;
using namespace roof::onednn;

namespace {

constexpr int batch = 2;

/// A network of a token after 39, and its loss by transformers in double.
struct Decoded {
    std::string name;
    double due = engine::Reference::of_family(name + "_decode").at("loss", "0");
    model::Graph graph = model::build_model(std::string(ROOF_TEST_DATA) + "/data/configs/" + name + ".json", 1000, 40,
                                            model::Use::decode);

    explicit Decoded(std::string of) : name(std::move(of)) {}
};

double loss_of(const model::Graph& graph, Precision precision)
{
    Network network(
        graph,
        {.batch = batch, .threads = 2, .parameters = Parameters::hashed, .trains = false, .precision = precision});
    const Clock clock = [] { return Seconds{}; };
    Trace trace(clock, network.parts().size());
    const data::Source source = data::open_source("hashed", batch, data::Form::of(graph), 1, 1);
    const data::Batch tokens = source.next();
    network.forward(tokens.images, tokens.labels, trace);
    return network.forward(tokens.images, tokens.labels, trace);  // the caches are as they were
}

}  // namespace

TEST_CASE("A token is decoded after caches of keys and values as by transformers, also in a sliding window")
{
    const Decoded token(GENERATE("config_gpt2", "config_llama", "config_mistral", "config_qwen2"));
    INFO(token.name);
    CHECK(std::abs(loss_of(token.graph, Precision::fp32) - token.due) < 2e-6);
    CHECK(std::abs(loss_of(token.graph, Precision::bf16) - token.due) < 5e-3);
}

TEST_CASE("Plain loops decode a token as transformers do")
{
    const Decoded token(GENERATE("config_gpt2", "config_llama", "config_mistral", "config_qwen2"));
    INFO(token.name);
    ir::HostTraining loops(token.graph, {.batch = batch, .parameters = Parameters::hashed, .trains = false});
    CHECK(std::abs(loops.differentiate() - token.due) < 2e-6);
}

TEST_CASE("A forward pass alone has the loss of a step's, and less memory")
{
    const model::Graph graph = ir::token_network();
    ir::HostTraining step(graph, {.batch = batch, .parameters = Parameters::hashed});
    CHECK(loss_of(graph, Precision::fp32) == Approx(step.differentiate()).epsilon(1e-5));
    const Network trained(graph, {.batch = batch, .threads = 1});
    const Network forward(graph, {.batch = batch, .threads = 1, .trains = false});
    CHECK(forward.memory().value < 0.5 * trained.memory().value);
}
