// The algorithm of convolutions: the step runs what the settings ask for, `auto` remembers its choices, and the work
// reported is the work done.
#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "tests/fakes/temporary_folder.hpp"
#include "tests/skip.hpp"
#include "workloads/engine/choices.hpp"
#include "workloads/kernels/convolution.hpp"
#include "workloads/model/work.hpp"
#include "workloads/onednn/convolution/passes.hpp"
#include "workloads/onednn/step.hpp"
#include "workloads/onednn/train_bench.hpp"

#include <catch2/catch.hpp>

using namespace roof;
using namespace roof::onednn;

namespace {

/// A convolution that suits Winograd's algorithm after one that does not.
model::Graph small_network()
{
    model::Graph net("small", {3, 28, 28});
    const int stem = net.convolution("stem", 0, 32, {.size = 5, .stride = 2, .padding = 2}, false);
    const int body = net.convolution("body", stem, 32, {.size = 3, .stride = 1, .padding = 1}, true);
    net.linear("last", net.flatten("flat", net.average_pool("pool", body, 1)), 10);
    return net;
}

std::vector<TimedPart> parts_of(Algorithm algorithm, const std::shared_ptr<Choices>& choices = nullptr)
{
    const Settings settings{.batch = 2, .threads = 2, .algorithm = algorithm, .choices = choices};
    return Network(small_network(), settings).parts();
}

const TimedPart& find(const std::vector<TimedPart>& parts, const std::string& layer, Phase phase)
{
    for (const TimedPart& part : parts) {
        if (part.layer == layer && part.phase == phase) return part;
    }
    throw Error("no such part");
}

constexpr model::Convolution body_shape{2, {32, 14, 14}, {32, 14, 14}, {.size = 3, .stride = 1, .padding = 1}};

/// The candidates for the forward pass of "body" in parts_of().
std::vector<Candidate> body_candidates()
{
    const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
    return candidates(engine, {body_shape, Pass::forward, Precision::fp32, true}, 2, false);
}

Question question_of(const std::vector<Candidate>& all)
{
    return {"2x32x14x14 to 32, 3x3 stride 1 padding 1 + bias", "forward", "fp32", 2, library_of(all)};
}

}  // namespace

TEST_CASE("Executed FLOPs come from the candidate")
{
    const model::Graph net = small_network();
    const model::Convolution convolution = model::convolution_of(net, 2, 2);
    const model::LayerWork body = model::work_of(net, 2, 2, Precision::fp32);
    const double products = 2.0 * 2 * 16 * 32 * 32 * 36;
    const auto facts = [&](const char* implementation) { return facts_of(implementation, convolution); };
    CHECK(facts("jit_wino_4x3:avx512_core").executed.value == products);
    CHECK(facts("jit:avx512_core").executed.value == 2.0 * static_cast<double>(body.multiply_adds_unpadded));
    CHECK(facts("x64:gemm:jit").executed.value == 0);
    CHECK(facts("ref:any").executed.value == 0);
    CHECK(facts("jit_wino_4x3:avx512_core").algorithm == Algorithm::winograd);
    CHECK(facts("x64:gemm:jit").algorithm == Algorithm::gemm);
    CHECK(facts("jit_1x1:avx512_core").algorithm == Algorithm::direct);

    if (kernels::convolution_lanes() == 0) return skip("there are no convolution kernels for this processor");
    const auto plans = kernels::convolution_plans({body_shape}, 1);
    REQUIRE(plans.size() == 2);
    CHECK(plans[0].executed == facts("jit:avx512_core").executed);
    CHECK(plans[0].algorithm == Algorithm::direct);
    CHECK(plans[1].executed.value == 2.0 * 2 * 22 * 22 * 32 * 32);  // 14 = 4 + 4 + 4 + 2
    CHECK(plans[1].algorithm == Algorithm::winograd);
}

TEST_CASE("Winograd computes suitable convolutions, direct the rest, and the parts name them")
{
    if (!offers_winograd(Precision::fp32)) return skip("no Winograd kernel for this processor");
    const std::vector<TimedPart> parts = parts_of(Algorithm::winograd);
    const std::vector<TimedPart> direct = parts_of(Algorithm::direct);
    for (const Phase phase : {Phase::forward, Phase::backward}) {
        const TimedPart& body = find(parts, "body", phase);
        CHECK_THAT(body.implementation, Catch::Contains("wino"));
        CHECK(body.work.executed.value > 0);
        CHECK(body.work.executed < body.work.flops * 0.5);
        CHECK(body.work.flops == find(direct, "body", phase).work.flops);
        CHECK(find(direct, "body", phase).work.executed > body.work.executed);
        CHECK_THAT(find(parts, "stem", phase).implementation, !Catch::Contains("wino"));
    }
}

TEST_CASE("Direct takes this project's kernel, or with choices the faster of it and oneDNN's")
{
    if (convolution_lanes() == 0) return skip("there are no convolution kernels for this processor");
    const auto of_body = [](const std::shared_ptr<Choices>& choices) {
        return find(parts_of(Algorithm::direct, choices), "body", Phase::forward).implementation;
    };
    const std::string kernel = convolution_lanes() == 16 ? "roof:direct:avx512" : "roof:direct:avx2";
    CHECK_THAT(of_body(nullptr), Catch::Contains(kernel));
    CHECK_THAT(find(parts_of(Algorithm::direct), "stem", Phase::forward).implementation, !Catch::Contains("roof"));

    const Question question = question_of(body_candidates());
    Question asked = question;
    asked.pass = "forward, direct";
    const auto tried = std::make_shared<Choices>(), known = std::make_shared<Choices>();
    const std::string found = of_body(tried);
    REQUIRE(tried->evidence(asked) != nullptr);
    CHECK_THAT(found, Catch::Contains(tried->evidence(asked)->implementation()));
    CHECK(tried->evidence(question) == nullptr);  // the question of `auto`, which has more candidates
    known->fastest(asked, {kernel}, [] { return [](std::size_t) { return 1.0; }; });
    CHECK_THAT(of_body(known), Catch::Contains(kernel));
}

TEST_CASE("In bf16 the candidates of a pass multiply by the dot product and by widened numbers")
{
    const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
    if (const auto reason = unsupported_precision(Precision::bf16)) return skip(*reason);
    for (const Pass pass : {Pass::forward, Pass::backward_data, Pass::backward_weights}) {
        const std::vector<Candidate> all = candidates(engine, {body_shape, pass, Precision::bf16}, 1, false);
        const auto has = [&](const std::string& name) {
            return std::ranges::find(all, name, &Candidate::name) != all.end();
        };
        CHECK(all.front().is_preferred);
        CHECK(precision_of(all.front().layouts.source) == Precision::bf16);
        CHECK(has("roof:direct:avx512"));
        CHECK(has("roof:wino_4x3:avx512"));
        const auto in_fp32 =
            std::ranges::find_if(all, [](const Candidate& candidate) { return candidate.name.ends_with(" in fp32"); });
        REQUIRE(in_fp32 != all.end());
        CHECK(in_fp32->is_preferred);
        CHECK(precision_of(in_fp32->layouts.source) == Precision::fp32);
    }
}

TEST_CASE("The implicit matrix product is available on request")
{
    const std::vector<TimedPart> parts = parts_of(Algorithm::gemm);
    for (const char* layer : {"stem", "body"}) {
        const TimedPart& part = find(parts, layer, Phase::forward);
        CHECK_THAT(part.implementation, Catch::Contains("gemm"));
        CHECK(part.work.executed.value == 0);
    }
}

TEST_CASE("Causal attention executes the blocks of 64 queries and keys that its loops work on")
{
    model::Graph net("small", {48, 12, 12});
    const int causal = net.attention("causal", 0, 4, true);
    const int full = net.attention("full", net.convolution("qkv", causal, 48, {}, true), 4);
    net.linear("last", net.flatten("flat", net.average_pool("pool", full, 1)), 10);
    const std::vector<TimedPart> parts = Network(net, {.batch = 2, .threads = 2}).parts();
    // 144 positions, 16 channels of results: 64 queries with 64 keys, 64 with 128, 16 with 144.
    const double pairs = 64 * 64 + 64 * 128 + 16 * 144;
    CHECK(find(parts, "causal", Phase::forward).work.executed == Flops{2 * 2 * 2 * 16 * pairs});
    CHECK(find(parts, "causal", Phase::backward).work.executed == Flops{2 * 5 * 2 * 16 * pairs});
    CHECK(find(parts, "causal", Phase::forward).work.flops == Flops{2 * 2 * 2 * 16 * 144.0 * 144});
    CHECK(find(parts, "full", Phase::forward).work.executed == Flops{});  // all that the model has
}

TEST_CASE("A step's executed FLOPs are its model FLOPs less the convolutions' savings")
{
    if (convolution_lanes() == 0) return skip("oneDNN has no direct convolution of each pass for this processor");
    const model::Graph net = small_network();
    const Step step(net, {.batch = 2, .threads = 2}, "synthetic", 1);
    const model::LayerWork stem = model::work_of(net, 1, 2, Precision::fp32);
    const model::LayerWork body = model::work_of(net, 2, 2, Precision::fp32);
    const auto padding = [](const model::LayerWork& work) {
        return 2.0 * static_cast<double>(work.multiply_adds - work.multiply_adds_unpadded);
    };
    CHECK(step.work().executed.value == Approx(step.work().flops.value - 2 * padding(stem) - 3 * padding(body)));
    CHECK_THAT(step.variant(), Catch::Contains("5 direct"));
}

TEST_CASE("auto keeps the times of all candidates and runs the remembered choice")
{
    const fakes::TemporaryFolder folder;
    const std::filesystem::path file = folder.path() / "machine" / "convolutions.csv";
    const Question question = question_of(body_candidates());
    parts_of(Algorithm::automatic, std::make_shared<Choices>(file));
    const Choices kept(file);
    const engine::Choice* const choice = kept.evidence(question);
    REQUIRE(choice != nullptr);
    CHECK(choice->candidates.size() > 1);
    CHECK(std::ranges::none_of(choice->turns, &std::vector<double>::empty));
    CHECK(choice->turns[choice->chosen].size() >= 2);

    for (const char* implementation : {"jit", "gemm"}) {
        const std::vector<TimedPart> parts =
            parts_of(std::string(implementation) == "gemm" ? Algorithm::gemm : Algorithm::direct);
        const auto choices = std::make_shared<Choices>();
        const std::string name = find(parts, "body", Phase::forward).implementation;
        choices->fastest(question, {name}, [] { return [](std::size_t) { return 1.0; }; });
        CHECK_THAT(find(parts_of(Algorithm::automatic, choices), "body", Phase::forward).implementation,
                   Catch::Contains(name));
    }
}

TEST_CASE("auto tries a pass again when its candidates are others than at the remembered choice")
{
    std::vector<Candidate> fewer = body_candidates();
    const Question now = question_of(fewer);
    const std::string last = fewer.back().name;
    std::erase_if(fewer, [&](const Candidate& candidate) { return candidate.name == last; });
    REQUIRE_FALSE(fewer.empty());
    const Question before = question_of(fewer);
    REQUIRE(before.library != now.library);
    const auto choices = std::make_shared<Choices>();
    choices->fastest(before, {fewer.back().name}, [] { return [](std::size_t) { return 1.0; }; });
    parts_of(Algorithm::automatic, choices);
    CHECK(choices->evidence(now) != nullptr);
}

TEST_CASE("An unavailable algorithm or precision reports the reason")
{
    const Device cpu{
        .name = "cpu", .kind = "cpu", .model = {}, .levels = {}, .memory = {}, .memory_available = {}, .facts = {}};
    Point point;
    for (const auto& [axis, value] : std::vector<std::pair<std::string, std::string>>{{"model", "alexnet"},
                                                                                      {"precision", "fp32"},
                                                                                      {"algorithm", "direct"},
                                                                                      {"data", "synthetic"},
                                                                                      {"lr", "0.01"}})
        point.set(axis, value);
    const Machine machine;
    const TrainBench bench;
    CHECK_FALSE(bench.unsupported_reason(point, machine, cpu));
    point.set("algorithm", "winograd");
    CHECK(bench.unsupported_reason(point, machine, cpu).has_value() != offers_winograd(Precision::fp32));
    point.set("algorithm", "auto");
    point.set("precision", "bf16");
    const bool has_avx512 = __builtin_cpu_supports("avx512bw") != 0;
    CHECK(bench.unsupported_reason(point, machine, cpu).has_value() != has_avx512);
    if (!has_avx512)
        CHECK_THAT(bench.unsupported_reason(point, machine, cpu).value_or(""), Catch::Contains("avx512_bf16"));
    point.set("precision", "fp32");
    point.set("algorithm", "fft");
    CHECK_THAT(bench.unsupported_reason(point, machine, cpu).value_or(""), Catch::Contains("'fft'"));
    point.set("algorithm", "fastest");
    CHECK_THROWS_AS(bench.unsupported_reason(point, machine, cpu), InputError);
}
