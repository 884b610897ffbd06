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
            const AttendCached attend{source, cache, build.program.tensor(build.map(unit.layer)), layer.heads,
                                      layer.kv_heads};
            build.program.append(attend, "roof:attention");
            return attend.result;
        },
        [](const Builder::Share&) -> Tensor { throw Unsupported("attention over a cache is not trained"); });
}

}  // namespace

void attention(Builder& build, const Unit& unit)
{
    if (build.layer(unit).cached > 0) return attend_cached(build, unit);
    build.begin_with_work(unit, Phase::forward);
    const model::Layer& layer = build.layer(unit);
    const Tensor source = build.input(unit);
    const Tensor each{.batch = source.batch, .channels = layer.heads, .height = source.height, .width = source.width};
    const Attention attention{.source = source,
                              .result = build.program.tensor(build.map(unit.layer)),
                              .sums = build.program.tensor(each),
                              .heads = layer.heads,
                              .kv_heads = layer.kv_heads,
                              .causal = layer.causal};
    build.program.append(attention, "roof:attention");
    build.put(unit, attention.result);
    build.tape.emplace_back([=, &build] {
        build.begin_with_work(unit, Phase::backward);
        const AttentionGradient gradient{.gradient = build.gradient(unit.layer).tensor,
                                         .source = source,
                                         .result = attention.result,
                                         .sums = attention.sums,
                                         .to_source = build.program.tensor(source),
                                         .products = build.program.tensor(each),
                                         .heads = attention.heads,
                                         .kv_heads = attention.kv_heads,
                                         .causal = attention.causal};
        build.program.append(gradient, "roof:attention");
        build.give(build.source(unit), {gradient.to_source});
    });
}

}  // namespace roof::ir
