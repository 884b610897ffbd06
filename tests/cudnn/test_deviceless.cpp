// cuDNN without a device: engines and plans for every convolution of every model, from the properties of three GPUs.
// Engines that are compiled at run time need a driver and are not tested.
#include "ert/base/error.hpp"
#include "tests/cudnn/device_json.hpp"
#include "tests/engine/layers/host_training.hpp"
#include "tests/engine/layers/small_networks.hpp"
#include "tests/skip.hpp"
#include "workloads/cudnn/library/candidates.hpp"
#include "workloads/cudnn/library/pass_graphs.hpp"
#include "workloads/model/models.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

using namespace roof;
using namespace roof::cudnn;

namespace {

Descriptor device(const std::string& name)
{
    std::ifstream file(std::string(ROOF_TEST_DATA) + "/data/" + name + ".json");
    std::stringstream text;
    text << file.rdbuf();
    return device_from_json(text.str());
}

/// The engines that support the device, with their plans. Of those that need a compilation at run time (a good part of
/// a second each) only the first few are planned.
std::vector<PlannedEngine> candidates(const std::vector<Engine>& engines, const Descriptor& device)
{
    constexpr int most_compiled = 6;
    int compiled = 0;
    std::vector<PlannedEngine> found;
    for (const Engine& engine : engines) {
        if (engine.notes.compiled_at_run_time && ++compiled > most_compiled) continue;
        if (const auto one = planned(engine, device)) found.push_back(*one);
    }
    return found;
}

/// Asks the library for each shape once, as a step does, and takes its first engine.
class Planner {
  public:
    Planner(Descriptor device, const Settings& settings) : device_(std::move(device)), settings_(settings) {}

    Choosers choosers()
    {
        return {[this](const ConvolutionPass& shape) { return choose(shape); },
                loops().product,
                [this](const NormShape& shape) { return take(shape); },
                [this](const ConvolutionPass& shape) { return is_accepted_as_given(shape); },
                {},
                [this](const AttentionPass& pass) { return take(pass); }};
    }
    int norms() const { return static_cast<int>(norms_.size()); }
    int attention() const { return static_cast<int>(attention_.size()); }
    int shapes() const { return static_cast<int>(known_.size()); }
    int fused() const { return fused_; }
    int refused_fusions() const { return refused_fusions_; }

  private:
    /// Asks also for what is read when images are read as they are.
    bool is_accepted_as_given(ConvolutionPass first_layer)
    {
        choose(first_layer);
        first_layer.pass = Pass::backward_weights;
        choose(first_layer);
        return true;
    }

    Choice choose(const ConvolutionPass& shape)
    {
        const auto [place, is_new] = known_.try_emplace(shape);
        if (is_new) place->second = first(shape);
        return place->second;
    }

    /// Our own kernels compute it, but the library must accept its graph.
    Choice take(const NormShape& shape)
    {
        INFO(text(shape));
        if (norms_.insert(shape).second) CHECK_NOTHROW(graph_of(shape));
        return {};
    }

    Choice take(const AttentionPass& pass)
    {
        INFO(text(pass));
        if (!attention_.insert(pass).second) return {};
        if (settings_.narrow())
            CHECK_NOTHROW(graph_of(pass));
        else
            CHECK_THROWS_AS(graph_of(pass), Unsupported);
        return {};
    }

    Choice first(ConvolutionPass shape)
    {
        INFO(name(shape.pass) << " " << text(shape));
        std::vector<PlannedEngine> found = candidates(allowed_engines(shape, settings_, device_), device_);
        const bool wants_more = !is_bare(shape);
        const bool is_fused = !found.empty();
        if (wants_more) ++(is_fused ? fused_ : refused_fusions_);
        if (!is_fused) {
            shape = bare(shape);
            found = candidates(allowed_engines(shape, settings_, device_), device_);
        }
        REQUIRE_FALSE(found.empty());
        for (const PlannedEngine& one : found) {
            CHECK(one.engine.name.starts_with("engine "));
            CHECK(one.plan.workspace >= 0);
            CHECK(is_allowed(one.engine.notes, settings_));
        }
        return choice_of(found.front(), is_fused);
    }

    Descriptor device_;
    Settings settings_;
    std::map<ConvolutionPass, Choice> known_;
    std::set<NormShape> norms_;
    std::set<AttentionPass> attention_;
    int fused_ = 0;
    int refused_fusions_ = 0;
};

}  // namespace

TEST_CASE("cuDNN has engines for every convolution of every model in every precision on sm_80, sm_90 and sm_100")
{
    const std::string where = GENERATE("a100", "h200", "b200");
    const Precision precision = GENERATE(Precision::bf16, Precision::tf32, Precision::fp32, Precision::fp16);
    INFO(where << " " << traits(precision).name);
    const Settings settings{.batch = 16, .precision = precision};
    Planner planner(device(where), settings);
    for (const std::string& model : model::model_names()) {
        INFO(model);
        const StepProgram list = write_step(model::build_model(model), settings, planner.choosers());
        CHECK(list.bytes > 0);
        for (const TimedPart& part : list.parts()) {
            INFO(part.layer << " " << name(part.phase));
            CHECK_FALSE(part.implementation.empty());
        }
    }
    CHECK(planner.shapes() > 100);
    CHECK(planner.norms() >= 10);  // fewer where convolutions sum for them
    CHECK(planner.attention() >= 8);
    if (precision != Precision::fp32) CHECK(planner.fused() > 0);
}

TEST_CASE("cuDNN has engines for convolutions in groups, depthwise and dilated, of networks from ONNX files")
{
    const auto [where, precision] = GENERATE(table<std::string, Precision>(
        {{"a100", Precision::fp32}, {"h200", Precision::bf16}, {"b200", Precision::fp32}}));
    INFO(where << " " << traits(precision).name);
    const Settings settings{.batch = 16, .precision = precision};
    Planner planner(device(where), settings);
    for (const char* const name : {"mobilenet_v2", "mobilenet_v3_large", "efficientnet_b0", "shufflenet_v2_x1_0",
                                   "densenet121", "googlenet", "squeezenet1_1", "resnext50_32x4d"}) {
        INFO(name);
        const std::string file = std::string(ROOF_TEST_DATA) + "/../model/data/onnx/" + name + ".onnx";
        const StepProgram list = write_step(model::build_model(file), settings, planner.choosers());
        for (const TimedPart& part : list.parts()) CHECK_FALSE(part.implementation.empty());
    }
    write_step(mobile_network(), settings, planner.choosers());  // with a dilated one
    CHECK(planner.shapes() > 200);
}

TEST_CASE("What was chosen under other settings is another's choice")
{
    Settings settings{.algorithm = Algorithm::automatic};
    const std::string library = "cuDNN " + library_version();
    CHECK(chooser_of(settings, "card") == library + " on card");
    settings.algorithm = Algorithm::winograd;
    CHECK(chooser_of(settings, "card") == library + " on card; winograd");
    settings.deterministic = true;
    settings.tune = false;
    CHECK(chooser_of(settings, "card") == library + " on card; winograd; deterministic; not timed");
}

TEST_CASE("Notes say what an engine is, and whether the settings allow it")
{
    const auto notes = [](int note) { return notes_of({CUDNN_NUMERICAL_NOTE_STRICT_NAN_PROP, note}, {}); };
    const auto is_allowed_in = [](const EngineNotes& one, Precision precision, bool deterministic = false) {
        return is_allowed(one, {.precision = precision, .deterministic = deterministic});
    };
    for (const int note : {CUDNN_NUMERICAL_NOTE_TENSOR_CORE, CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS}) {
        CHECK_FALSE(is_allowed_in(notes(note), Precision::fp32));
        CHECK(is_allowed_in(notes(note), Precision::tf32, true));
    }
    CHECK_FALSE(is_allowed_in(notes(CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC), Precision::bf16, true));
    CHECK(is_allowed_in(notes(CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC), Precision::fp32));
    const auto is = [&](int note, std::string_view algorithm, int tile) {
        return notes(note).algorithm() == algorithm && notes(note).winograd_tile == tile;
    };
    CHECK(is(CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC, "gemm", 0));
    CHECK(is(CUDNN_NUMERICAL_NOTE_FFT, "fft", 0));
    CHECK(is(CUDNN_NUMERICAL_NOTE_WINOGRAD, "winograd", 0));
    CHECK(is(CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_4x4, "winograd", 2));
    CHECK(is(CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6, "winograd", 4));
    CHECK(is(CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13, "winograd", 0));
    CHECK(notes_of({}, {CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION}).compiled_at_run_time);
    CHECK_FALSE(notes_of({}, {CUDNN_BEHAVIOR_NOTE_CUBLASLT_DEPENDENCY}).compiled_at_run_time);
}

TEST_CASE("cuDNN's refusal is in the message")
{
    CHECK_THROWS_AS(check(CUDNN_STATUS_NOT_SUPPORTED, "it"), Unsupported);
    const std::string without_its_words = "cuDNN refuses (CUDNN_STATUS_BAD_PARAM) ";
    CHECK_THROWS_WITH(Descriptor(CUDNN_BACKEND_TENSOR_DESCRIPTOR).finish(),
                      Catch::StartsWith(without_its_words) && !Catch::Equals(without_its_words));
}

TEST_CASE("A convolution's scale factors are floats, because engines read only the lower half of a double")
{
    const auto [pass, alpha, beta] = GENERATE(table<Pass, cudnnBackendAttributeName_t, cudnnBackendAttributeName_t>(
        {{Pass::forward, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA},
         {Pass::backward_data, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA},
         {Pass::backward_weights, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA}}));
    const std::vector<Descriptor> operations = operations_of(
        {{.batch = 8, .source = {64, 14, 14}, .result = {64, 14, 14}, .window = {.size = 3, .stride = 1, .padding = 1}},
         pass});
    REQUIRE(operations.size() == 1);
    for (const auto& [attribute, due] : {std::pair{alpha, 1.0F}, std::pair{beta, 0.0F}}) {
        float factor = -1;
        std::int64_t count = 0;
        CHECK(cudnnBackendGetAttribute(operations.front().get(), attribute, CUDNN_TYPE_FLOAT, 1, &count, &factor) ==
              CUDNN_STATUS_SUCCESS);
        CHECK(factor == due);
    }
}

TEST_CASE("Every configuration that cuDNN's heuristics suggest has its own name, knobs included")
{
    const auto [pass, least] =
        GENERATE(table<Pass, int>({{Pass::forward, 30}, {Pass::backward_data, 30}, {Pass::backward_weights, 30}}));
    const ConvolutionPass shape{{.batch = 32,
                                 .source = {256, 14, 14},
                                 .result = {256, 14, 14},
                                 .window = {.size = 3, .stride = 1, .padding = 1}},
                                pass,
                                Precision::bf16};
    const std::vector<Engine> engines = engines_for(convolution_graph(shape), device("h200"));
    CHECK(engines.size() >= static_cast<std::size_t>(least));
    std::set<std::string> names;
    for (const Engine& engine : engines) names.insert(engine.name);
    CHECK(names.size() == engines.size());
    CHECK(
        std::ranges::any_of(engines, [](const Engine& engine) { return engine.name.find(" k") != std::string::npos; }));
}

ConvolutionPass between_norms(int batch, Precision precision, Pass pass, bool prologue, bool statistics)
{
    ConvolutionPass shape{{.batch = batch,
                           .source = {64, 56, 56},
                           .result = {64, 56, 56},
                           .window = {.size = 3, .stride = 1, .padding = 1}},
                          pass,
                          precision};
    shape.prologue = prologue;
    shape.statistics = statistics;
    return shape;
}

/// How many engines cuDNN finishes a plan for.
std::size_t engines_with(const std::string& where, Precision precision, Pass pass, bool prologue, bool statistics)
{
    const ConvolutionPass shape = between_norms(32, precision, pass, prologue, statistics);
    const Settings settings{.batch = 32, .precision = precision};
    return candidates(allowed_engines(shape, settings, device(where)), device(where)).size();
}

TEST_CASE("cuDNN accepts the graphs of convolutions between batch norms, and has compiled engines for some in fp16")
{
    for (const std::string where : {"a100", "h200", "b200"}) {
        INFO(where);
        for (const Precision precision : {Precision::bf16, Precision::fp16}) {
            for (const auto& [pass, prologue, statistics] : {std::tuple{Pass::forward, false, true},
                                                             {Pass::forward, true, false},
                                                             {Pass::forward, true, true},
                                                             {Pass::backward_weights, true, false}}) {
                CHECK_NOTHROW(convolution_graph(between_norms(8, precision, pass, prologue, statistics)));
            }
        }
        CHECK(engines_with(where, Precision::fp16, Pass::forward, false, true) > 0);
        int driver = 0;
        if (cudaDriverGetVersion(&driver) == cudaSuccess && driver > 0) continue;  // then others may be compiled
        const bool is_newest = where == "b200";
        CHECK((engines_with(where, Precision::fp16, Pass::forward, true, true) > 0) == is_newest);
        CHECK((engines_with(where, Precision::fp16, Pass::backward_weights, true, false) > 0) == is_newest);
    }
}

TEST_CASE("cuDNN has no engines for batch norms on any chip without a driver")
{
    int driver = 0;
    if (cudaDriverGetVersion(&driver) == cudaSuccess && driver > 0) return skip("there is a driver here");
    const std::string where = GENERATE("a100", "h200", "b200");
    for (const Precision precision : {Precision::fp32, Precision::bf16, Precision::fp16}) {
        for (const bool backward : {false, true}) {
            const NormShape shape{
                .backward = backward, .batch = 16, .map = {64, 56, 56}, .precision = precision, .relu = true};
            CHECK(candidates(engines_for(graph_of(shape), device(where)), device(where)).empty());
        }
    }
}

TEST_CASE(
    "cuDNN accepts the graph of attention for each of what a pass may have, and has no engine for it without a driver")
{
    int driver = 0;
    const bool has_driver = cudaDriverGetVersion(&driver) == cudaSuccess && driver > 0;
    for (const Precision precision : {Precision::bf16, Precision::fp16}) {
        for (const bool backward : {false, true}) {
            for (const bool causal : {false, true}) {
                for (const int kv_heads : {12, 4}) {
                    for (const bool ordered : {false, true}) {
                        const AttentionPass pass{.backward = backward,
                                                 .batch = 4,
                                                 .positions = 197,
                                                 .heads = 12,
                                                 .kv_heads = kv_heads,
                                                 .channels = 64,
                                                 .causal = causal,
                                                 .precision = precision,
                                                 .ordered = ordered};
                        INFO(traits(precision).name << (backward ? " backward " : " forward ") << text(pass));
                        const Descriptor graph = graph_of(pass);
                        if (!has_driver) CHECK(engines_for(graph, device("h200")).empty());
                    }
                }
            }
        }
    }
    const AttentionPass good{.backward = true, .positions = 16, .channels = 64, .precision = Precision::bf16};
    CHECK_NOTHROW(graph_of(good));
    AttentionPass bad = good;
    bad.positions = 1;
    CHECK_THROWS_AS(graph_of(bad), Unsupported);
    bad = good;
    bad.channels = 12;
    CHECK_THROWS_AS(graph_of(bad), Unsupported);
    bad = good;
    bad.precision = Precision::fp32;
    CHECK_THROWS_AS(graph_of(bad), Unsupported);
}

TEST_CASE("Deterministic engines exist for every shape of three model families")
{
    const std::string where = GENERATE("a100", "h200", "b200");
    const Precision precision = GENERATE(Precision::bf16, Precision::fp32);
    INFO(where << " " << traits(precision).name);
    const Settings settings{.batch = 8, .precision = precision, .deterministic = true};
    Planner planner(device(where), settings);
    for (const std::string model : {"alexnet", "vgg16_bn", "resnet50"})
        CHECK(write_step(model::build_model(model), settings, planner.choosers()).bytes > 0);
}

TEST_CASE("Of three chips only sm_80 offers Winograd, and none offers FFT or direct")
{
    const auto by = [](Algorithm algorithm) {
        return Settings{.batch = 8, .precision = Precision::fp32, .algorithm = algorithm};
    };
    CHECK(offers(by(Algorithm::winograd), device("a100")));
    CHECK_FALSE(offers(by(Algorithm::winograd), device("h200")));
    CHECK_FALSE(offers(by(Algorithm::winograd), device("b200")));
    for (const std::string where : {"a100", "h200", "b200"}) {
        CHECK(offers(by(Algorithm::gemm), device(where)));
        CHECK_FALSE(offers(by(Algorithm::fft), device(where)));
        CHECK_FALSE(offers(by(Algorithm::direct), device(where)));
    }
}

TEST_CASE("Algorithm winograd selects Winograd's engines where they exist, and counts their multiply-adds")
{
    const Settings settings{.batch = 8, .precision = Precision::fp32, .algorithm = Algorithm::winograd};
    Planner planner(device("a100"), settings);
    const StepProgram list = write_step(model::build_model("resnet18"), settings, planner.choosers());
    const ConvolutionPass usual{
        {.batch = 8, .source = {64, 56, 56}, .result = {64, 56, 56}, .window = {.size = 3, .stride = 1, .padding = 1}},
        Pass::forward,
        settings.precision};
    for (const Engine& engine : allowed_engines(usual, settings, device("a100")))
        CHECK(engine.notes.algorithm() == "winograd");
    CHECK(list.algorithms.at("winograd") > 10);
    CHECK(list.algorithms.at("gemm") > 10);
}

TEST_CASE("A device has the properties of its JSON text, and invalid text is an error")
{
    CHECK_THAT(json_of(device("h200")), Catch::Contains("NVIDIA H200") && Catch::Contains("132"));
    CHECK_THROWS_AS(device_from_json("{}"), Error);
}
