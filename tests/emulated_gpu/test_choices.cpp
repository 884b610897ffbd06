// What the engine chooses among a library's engines, by trials on an emulated GPU: which is the fastest, whether one
// that does more is worth it and right, how the first convolution reads images.
#include "ert/base/error.hpp"
#include "ert/gpu/buffer.hpp"
#include "tests/emulated_gpu/emulated_memory.hpp"
#include "tests/emulated_gpu/library/engines.hpp"
#include "workloads/cudnn/library/plans.hpp"
#include "workloads/model/work.hpp"

using namespace roof;
using namespace roof::cudnn;
using emulated::OfferedEngine;
using emulated::offers;

namespace {

constexpr Seconds fast{1e-6};
constexpr Seconds slow{1e-2};  ///< slower than any of our kernels on these maps

ConvolutionPass shape_of(Pass pass)
{
    return {{.batch = 2, .source = {8, 6, 6}, .result = {16, 6, 6}, .window = {.size = 3, .stride = 1, .padding = 1}},
            pass,
            Precision::bf16};
}

ConvolutionPass with_bias()
{
    ConvolutionPass shape = shape_of(Pass::forward);
    shape.bias = shape.relu = true;
    return shape;
}

ConvolutionPass between_norms()
{
    ConvolutionPass shape = shape_of(Pass::forward);
    shape.prologue = shape.statistics = true;
    return shape;
}

/// What chooses, with the choices of `kept`, which outlive it.
struct Choosing {
    explicit Choosing(std::shared_ptr<engine::Choices> kept = std::make_shared<engine::Choices>(), bool tune = true)
        : choices(std::move(kept)),
          settings{.batch = 2,
                   .precision = Precision::bf16,
                   .algorithm = Algorithm::automatic,
                   .tune = tune,
                   .choices = choices}
    {
        offers().runs = 0;
    }
    engine::Question asked(const std::string& shape) const
    {
        return {shape, "forward", "bf16", 1, chooser_of(settings, "emulated")};
    }

    gpu::Stream stream;
    std::shared_ptr<engine::Choices> choices;
    Settings settings;
    Products products{stream, settings.tune};
    Plans plans{stream, settings, "emulated", products};
};

std::int64_t available_bytes()
{
    std::size_t available = 0, total = 0;
    REQUIRE(cudaMemGetInfo(&available, &total) == cudaSuccess);
    return static_cast<std::int64_t>(available);
}

/// Takes memory until so much is left.
gpu::Buffer<std::byte> all_but(std::int64_t bytes)
{
    return {static_cast<std::size_t>(available_bytes() - bytes), "what is taken"};
}

/// Offers `whole` for a pass with all that its shape has, `bare` for the pass alone.
void offer(const std::vector<OfferedEngine>& whole, const std::vector<OfferedEngine>& alone)
{
    offers().convolutions = [=](const ConvolutionPass& shape) { return is_bare(shape) ? alone : whole; };
}

}  // namespace

TEST_CASE("the fastest engine that runs is chosen, and known without a trial the next time")
{
    offer({}, {{.name = "first", .seconds = slow},
               {.name = "second", .seconds = fast},
               {.name = "broken", .seconds = {}, .runs = false}});
    const ConvolutionPass shape = shape_of(Pass::forward);
    Choosing chooser;
    CHECK(chooser.plans.choose(shape).implementation == "cudnn:second");
    CHECK(offers().runs > 0);
    const engine::Choice* const kept = chooser.choices->evidence(chooser.asked(text(shape)));
    REQUIRE(kept != nullptr);
    CHECK(kept->candidates == std::vector<std::string>{"first", "second", "broken"});
    CHECK(Choosing(nullptr).plans.choose(shape).implementation == "cudnn:second");
    Choosing next(chooser.choices);
    CHECK(next.plans.choose(shape_of(Pass::forward)).implementation == "cudnn:second");
    CHECK(offers().runs == 0);
    Choosing untried(std::make_shared<engine::Choices>(), false);
    CHECK(untried.plans.choose(shape_of(Pass::forward)).implementation == "cudnn:first");
    CHECK(offers().runs == 0);
    offer({}, {});
    CHECK_THROWS_AS(Choosing().plans.choose(shape_of(Pass::forward)), Unsupported);
}

TEST_CASE(
    "an engine for a whole pass is chosen where it is faster than one of the bare pass with our kernels, and right")
{
    const auto chosen = [](const ConvolutionPass& shape, const OfferedEngine& whole, Seconds alone) {
        offer({whole}, {{.name = "alone", .seconds = alone}});
        return Choosing().plans.choose(shape);
    };
    ConvolutionPass with_relu = with_bias(), of_weights = between_norms();
    with_relu.bias = false;
    of_weights.pass = Pass::backward_weights;
    of_weights.statistics = false;
    for (const ConvolutionPass& shape : {with_bias(), with_relu, between_norms(), of_weights}) {
        INFO(text(shape) << (shape.prologue ? " between batch norms" : ""));
        CHECK(chosen(shape, {.name = "whole", .seconds = fast}, slow).implementation == "cudnn:whole");
        CHECK(chosen(shape, {.name = "whole", .seconds = fast}, slow).fused);
        CHECK(chosen(shape, {.name = "whole", .seconds = slow}, fast).implementation == "cudnn:alone");
        CHECK_FALSE(chosen(shape, {.name = "whole", .seconds = slow}, fast).fused);
        // As fast as the bare pass: what our kernels take tips the balance.
        CHECK(chosen(shape, {.name = "whole", .seconds = fast}, fast).fused);
        CHECK_FALSE(chosen(shape, {.name = "whole", .seconds = fast, .is_right = false}, slow).fused);
        CHECK_FALSE(chosen(shape, {.name = "whole", .seconds = fast, .runs = false}, slow).fused);
        // What an engine leaves in its workspace is in nobody's way.
        CHECK(chosen(shape, {.name = "whole", .seconds = fast, .workspace = 1 << 20}, slow).fused);
    }
}

TEST_CASE("engines that take long to plan, are compiled at run time or want much memory are left out")
{
    const auto chosen = [](const std::vector<OfferedEngine>& offered, bool tune = true) {
        offer({}, offered);
        return Choosing(std::make_shared<engine::Choices>(), tune).plans.choose(shape_of(Pass::forward)).implementation;
    };
    constexpr Seconds faster = fast * 0.01;
    const OfferedEngine late{.name = "late", .seconds = faster};
    const OfferedEngine second{.name = "second", .seconds = fast};
    OfferedEngine first{.name = "first", .seconds = slow};
    CHECK(chosen({first, second, late}) == "cudnn:late");
    first.planning = Seconds{0.3};
    CHECK(chosen({first, second, late}) == "cudnn:second");
    OfferedEngine compiled{.name = "compiled", .seconds = slow, .compiled = true};
    OfferedEngine other{.name = "other", .seconds = faster, .compiled = true};
    CHECK(chosen({compiled, second, other}) == "cudnn:second");
    CHECK(chosen({other, second, compiled}) == "cudnn:other");
    CHECK(chosen({other, second}, false) == "cudnn:second");
    OfferedEngine wide{.name = "wide", .seconds = faster, .workspace = std::int64_t{16} << 20};
    CHECK(chosen({second, wide}) == "cudnn:wide");
    const std::int64_t most = available_bytes() / 8;
    wide.workspace = most;
    CHECK(chosen({second, wide}) == "cudnn:wide");
    wide.workspace = most + 1;
    CHECK(chosen({second, wide}) == "cudnn:second");
    const auto whole = [](const ConvolutionPass& shape) {
        offer({{.name = "whole", .seconds = fast, .compiled = true}}, {{.name = "alone", .seconds = slow}});
        return Choosing().plans.choose(shape).fused;
    };
    CHECK(whole(with_bias()));
    CHECK_FALSE(whole(between_norms()));
}

TEST_CASE("that the bare pass is better is kept, and a pass between batch norms is never fused without a trial")
{
    offer({{.name = "whole", .seconds = slow}}, {{.name = "alone", .seconds = fast}});
    Choosing chooser;
    CHECK_FALSE(chooser.plans.choose(with_bias()).fused);
    Choosing next(chooser.choices);
    CHECK_FALSE(next.plans.choose(with_bias()).fused);
    CHECK(offers().runs == 0);
    Choosing untried(std::make_shared<engine::Choices>(), false);
    CHECK(untried.plans.choose(with_bias()).fused);
    CHECK_FALSE(untried.plans.choose(between_norms()).fused);
    CHECK(offers().runs == 0);
    // Where there is no such engine, nothing is tried and kept.
    offer({}, {{.name = "alone", .seconds = fast}});
    Choosing other;
    CHECK_FALSE(other.plans.choose(with_bias()).fused);
    CHECK(other.choices->evidence(other.asked(text(with_bias()))) == nullptr);
    const int runs = offers().runs;
    Choosing().plans.choose(bare(with_bias()));
    CHECK(offers().runs == runs);
}

TEST_CASE("images are read by space to depth where both passes of the first convolution are faster so together")
{
    ConvolutionPass first = shape_of(Pass::forward);
    first.source = {3, 12, 12};
    first.window = {.size = 3, .stride = 2, .padding = 1};
    const auto is_deep = [&](Seconds forward, Seconds weights) {
        offers().convolutions = [=](const ConvolutionPass& shape) -> std::vector<OfferedEngine> {
            const Seconds deep = shape.pass == Pass::forward ? forward : weights;
            return {{.name = "one", .seconds = shape.source.channels == 3 ? fast : deep}};
        };
        Choosing chooser;
        const bool found = chooser.plans.reads_by_depth(first);
        Choosing next(chooser.choices);
        CHECK(next.plans.reads_by_depth(first) == found);
        CHECK(offers().runs == 0);
        return found;
    };
    CHECK(is_deep(fast * 0.5, fast * 0.5));
    Choosing untried(std::make_shared<engine::Choices>(), false);
    CHECK_FALSE(untried.plans.reads_by_depth(first));
    for (const auto& [size, stride, due] : {std::tuple{16, 16, true}, {32, 32, true}, {8, 8, false}, {17, 16, false}}) {
        ConvolutionPass patches = first;
        patches.window = {.size = size, .stride = stride, .padding = 0};
        CHECK(untried.plans.reads_by_depth(patches) == due);
    }
    CHECK(offers().runs == 0);
    CHECK(is_deep(fast * 0.5, fast * 1.2));
    CHECK_FALSE(is_deep(fast * 0.5, fast * 1.8));
    CHECK_FALSE(is_deep(fast * 2, fast * 2));
    offers().convolutions = [](const ConvolutionPass& shape) -> std::vector<OfferedEngine> {
        if (shape.source.channels != 3) return {};
        return {{.name = "one", .seconds = fast}};
    };
    Choosing lacking;
    CHECK_FALSE(lacking.plans.reads_by_depth(first));  // where no engine reads the other layout
    const int runs = offers().runs;
    CHECK_FALSE(lacking.plans.reads_by_depth(first));
    CHECK(offers().runs == runs);
}

TEST_CASE("a library's batch norm is chosen where it is faster than our kernels, and right")
{
    for (const auto& [precision, backward, relu] : {std::tuple{Precision::bf16, false, true},
                                                    {Precision::bf16, true, false},
                                                    {Precision::fp32, false, false},
                                                    {Precision::fp32, true, true}}) {
        const NormShape shape{
            .backward = backward, .batch = 4, .map = {16, 5, 5}, .precision = precision, .relu = relu};
        INFO(traits(precision).name << (backward ? " backward " : " forward ") << text(shape));
        const auto chosen = [&](const OfferedEngine& one,
                                std::shared_ptr<engine::Choices> kept = std::make_shared<engine::Choices>()) {
            offers().norms = [=](const NormShape&) { return std::vector{one}; };
            return Choosing(std::move(kept)).plans.choose(shape).plan >= 0;
        };
        CHECK(chosen({.name = "whole", .seconds = Seconds{1e-9}}));
        offers().norms = [](const NormShape&) {
            return std::vector<OfferedEngine>{{.name = "first", .seconds = slow},
                                              {.name = "second", .seconds = Seconds{1e-9}}};
        };
        CHECK(Choosing().plans.choose(shape).plan < 0);  // only the first is tried
        CHECK(Choosing(std::make_shared<engine::Choices>(), false).plans.choose(shape).plan < 0);
        CHECK(offers().runs == 0);
        offers().norms = [](const NormShape&) { return std::vector<OfferedEngine>{}; };
        Choosing without;
        CHECK(without.plans.choose(shape).plan < 0);
        CHECK(without.choices->decisions() == engine::Choices().decisions());
        CHECK_FALSE(chosen({.name = "whole", .seconds = Seconds{1e-9}, .is_right = false}));
        CHECK_FALSE(chosen({.name = "whole", .seconds = Seconds{1e-9}, .runs = false}));
        const auto kept = std::make_shared<engine::Choices>();
        CHECK_FALSE(chosen({.name = "whole", .seconds = slow}, kept));
        CHECK_FALSE(chosen({.name = "whole", .seconds = Seconds{1e-9}}, kept));
        CHECK(offers().runs == 0);
    }
}

TEST_CASE(
    "a library's attention is chosen where it is faster than our kernels, and right; a gradient in order has no fp32 "
    "sums")
{
    for (const Precision precision : {Precision::bf16, Precision::fp16}) {
        for (const bool backward : {false, true}) {
            const AttentionPass pass{.backward = backward,
                                     .batch = 2,
                                     .positions = 9,
                                     .heads = 4,
                                     .kv_heads = 2,
                                     .channels = 8,
                                     .causal = true,
                                     .precision = precision,
                                     .ordered = backward && precision == Precision::fp16};
            INFO(traits(precision).name << (backward ? " backward" : " forward"));
            const auto chosen = [&](const OfferedEngine& one,
                                    std::shared_ptr<engine::Choices> kept = std::make_shared<engine::Choices>()) {
                offers().attention = [=](const AttentionPass& asked) {
                    CHECK(asked == pass);
                    return std::vector{one};
                };
                return Choosing(std::move(kept)).plans.choose(pass);
            };
            // The stand-in of cuBLASLt takes next to no time for products of whole matrices, which are the next best.
            CHECK(chosen({.name = "fused", .seconds = Seconds{1e-9}}).implementation == "cudnn:fused");
            CHECK(chosen({.name = "fused", .seconds = slow}).by_products);
            CHECK(chosen({.name = "fused", .seconds = Seconds{1e-9}, .is_right = false}).by_products);
            CHECK(chosen({.name = "fused", .seconds = Seconds{1e-9}, .runs = false}).by_products);
            const auto kept = std::make_shared<engine::Choices>();
            chosen({.name = "fused", .seconds = slow}, kept);
            CHECK(chosen({.name = "fused", .seconds = Seconds{1e-9}}, kept).by_products);
            CHECK(offers().runs == 0);
            Choosing untried(std::make_shared<engine::Choices>(), false);
            CHECK(untried.plans.choose(pass).plan == -1);
        }
    }
    CHECK(text(AttentionPass{.batch = 2, .positions = 9, .heads = 4, .kv_heads = 2, .channels = 8, .causal = true}) ==
          "attention of 2x9, 4 heads of 8, of keys 2, causal");
}

TEST_CASE(
    "attention is by products where these are faster than our kernels and the library's engine, and by what was kept")
{
    for (const bool backward : {false, true}) {
        const AttentionPass pass{.backward = backward,
                                 .batch = 1,
                                 .positions = 128,
                                 .heads = 2,
                                 .kv_heads = 2,
                                 .channels = 16,
                                 .causal = true,
                                 .precision = Precision::fp32};
        INFO((backward ? "backward" : "forward"));
        const auto offer_nothing = [] {
            offers().attention = [](const AttentionPass&) { return std::vector<OfferedEngine>{}; };
        };
        offer_nothing();
        const auto kept = std::make_shared<engine::Choices>();
        const Choice first = Choosing(kept).plans.choose(pass);
        CHECK(first.by_products);
        CHECK(first.implementation == "cublaslt: products");
        CHECK(Choosing(kept).plans.choose(pass).by_products);
        double& launch = emulated::machine().device(0).card.launch_cycles;
        const double before = std::exchange(launch, 1e9);  // of which products have more
        CHECK(Choosing(kept).plans.choose(pass).by_products);
        CHECK(Choosing(std::make_shared<engine::Choices>()).plans.choose(pass).plan == -1);
        launch = before;
        // Products may take an eighth of the memory.
        const auto bytes = static_cast<std::int64_t>(first.workspace);
        const std::int64_t of_scores = 2 * 128 * 128 * sizeof(float), of_library = 1 << 20;
        CHECK(bytes == of_library + (backward ? 2 : 1) * of_scores);
        for (const std::int64_t more : {std::int64_t{-256}, std::int64_t{0}}) {
            if (backward) continue;
            const auto taken = all_but(8 * bytes + more);
            CHECK(Choosing().plans.choose(pass).by_products == (more == 0));
        }
        Choosing untried(std::make_shared<engine::Choices>(), false);
        CHECK(untried.plans.choose(pass).plan == -1);
    }
}

TEST_CASE("moments are chosen where they are faster than passes between the library's convolutions, and right")
{
    ConvolutionPass forward = shape_of(Pass::forward);
    forward.window = {.size = 1, .stride = 1, .padding = 0};
    forward.source.channels = 64;  // their products take longer than sums over the few results
    const auto is_by_moments = [&](const OfferedEngine& one,
                                   std::shared_ptr<engine::Choices> kept = std::make_shared<engine::Choices>()) {
        offer({}, {one});
        return Choosing(std::move(kept)).plans.takes_moments(forward);
    };
    CHECK_FALSE(is_by_moments({.name = "one", .seconds = slow, .is_right = false}));
    for (const Seconds seconds : {slow, fast}) {
        const auto kept = std::make_shared<engine::Choices>();
        CHECK(is_by_moments({.name = "one", .seconds = seconds}, kept) == (seconds == slow));
        CHECK(is_by_moments({.name = "one", .seconds = seconds == slow ? fast : slow}, kept) == (seconds == slow));
        CHECK(offers().runs == 0);
    }
    offer({}, {{.name = "one", .seconds = slow}});
    Choosing narrow;
    {
        const auto taken = all_but(4096);
        CHECK_FALSE(narrow.plans.takes_moments(forward));
    }
    CHECK_FALSE(narrow.plans.takes_moments(forward));  // that there was no room is remembered, but not kept
    CHECK(narrow.choices->decisions() == engine::Choices().decisions());
    offer({}, {});
    CHECK_FALSE(Choosing().plans.takes_moments(forward));
    Choosing untried(std::make_shared<engine::Choices>(), false);
    CHECK_FALSE(untried.plans.takes_moments(forward));
    Settings ordered = narrow.settings;
    ordered.deterministic = true;
    CHECK_FALSE(Plans(narrow.stream, ordered, "emulated", narrow.products).takes_moments(forward));
    untried.settings.moments = true;
    offers().runs = 0;
    Plans always(untried.stream, untried.settings, "emulated", untried.products);
    CHECK(always.takes_moments(forward));
    CHECK(offers().runs == 0);
}
