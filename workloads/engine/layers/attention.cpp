// Attention, of which no matrix of positions by positions is kept: with s = q k' / sqrt(d) and the kept logarithm l of each query's
// sum of exponentials,  p = e^(s - l);  y = p v;  and backward, with p computed again,
//   dv = p' dy;  dp = dy v';  ds = p (dp - the sum of y dy over the channels of the head);  dq = ds k / sqrt(d);  dk = ds' q / sqrt(d)
#include "workloads/engine/layers/layers.hpp"

#include "ert/base/error.hpp"

namespace roof::ir {
namespace {

/// Runs forward only.
void attend_cached(Builder& build, const Unit& unit)
{
    const model::Layer& layer = build.layer(unit);
    const Tensor source = build.input(unit);
    Tensor cache = build.map(unit.layer);
    cache.channels = source.channels - cache.channels;
    cache.width = layer.cached;
    cache = build.program.resident(cache);
    build.caches.push_back(cache);
    build.write_simple(
        unit,
        [&](const Tensor&) {
            AttendCached attend{source, cache, build.program.tensor(build.map(unit.layer)), layer.heads,
                                layer.kv_heads};
            if (const auto partial = partial_attention_of(attend)) attend.partial = build.program.tensor(*partial);
            build.program.append(attend, "roof:attention");
            return attend.result;
        },
        [](const Builder::Share&) -> Tensor { throw Unsupported("attention over a cache is not trained"); });
}

/// No plan: our own kernels.
Choice choose(const Builder& build, const Unit& unit, bool backward)
{
    const model::Layer& layer = build.layer(unit);
    const Tensor map = build.map(unit.layer);
    Choice choice;
    if (build.choosers.attention)
        choice = build.choosers.attention({.backward = backward,
                                           .batch = map.batch,
                                           .positions = map.height * map.width,
                                           .heads = layer.heads,
                                           .kv_heads = layer.kv_heads,
                                           .channels = map.channels / layer.heads,
                                           .causal = layer.causal,
                                           .precision = map.precision,
                                           .ordered = backward && build.settings.deterministic});
    if (choice.plan < 0) choice.implementation = "roof:attention";
    return choice;
}

}  // namespace

void attention(Builder& build, const Unit& unit)
{
    const model::Layer& layer = build.layer(unit);
    if (layer.cached > 0) return attend_cached(build, unit);
    const Tensor map = build.map(unit.layer);
    if (layer.reach > 0 && layer.reach < map.height * map.width)
        throw Unsupported("attention in a sliding window of " + std::to_string(layer.reach) +
                          " tokens runs for as many tokens or fewer, and for one by phase decode");
    const Choice choice = choose(build, unit, false);
    build.begin_with_work(unit, Phase::forward, choice.executed);
    const Tensor source = build.input(unit);
    const Tensor each{.batch = source.batch, .channels = layer.heads, .height = source.height, .width = source.width};
    const Attention attention{.source = source,
                              .result = build.program.tensor(build.map(unit.layer)),
                              .sums = build.program.tensor(each),
                              .workspace = build.program.scratch(choice.workspace),
                              .heads = layer.heads,
                              .kv_heads = layer.kv_heads,
                              .causal = layer.causal,
                              .plan = choice.plan};
    build.program.append(attention, choice.implementation);
    build.put(unit, attention.result);
    build.tape.emplace_back([=, &build] {
        const Choice chosen = choose(build, unit, true);
        build.begin_with_work(unit, Phase::backward, chosen.executed);
        Tensor to_queries = attention.result;
        to_queries.precision = Precision::fp32;
        const bool has_them = chosen.plan >= 0 && !build.settings.deterministic;
        const AttentionGradient gradient{.gradient = build.gradient(unit.layer).tensor,
                                         .source = source,
                                         .result = attention.result,
                                         .sums = attention.sums,
                                         .to_source = build.program.tensor(source),
                                         .products = build.program.tensor(each),
                                         .to_queries = has_them ? build.program.tensor(to_queries) : Tensor{},
                                         .workspace = build.program.scratch(chosen.workspace),
                                         .heads = attention.heads,
                                         .kv_heads = attention.kv_heads,
                                         .causal = attention.causal,
                                         .plan = chosen.plan};
        build.program.append(gradient, chosen.implementation);
        build.give(build.source(unit), {gradient.to_source});
    });
}

}  // namespace roof::ir
