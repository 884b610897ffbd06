// Attention, of which no matrix of positions by positions is kept: with s = q k' / sqrt(d) and the kept logarithm l of
// each query's sum of exponentials,  p = e^(s - l);  y = p v;  and backward, with p computed again,
//   dv = p' dy;  dp = dy v';  ds = p (dp - the sum of y dy over the channels of the head);  dq = ds k / sqrt(d);  dk =
//   ds' q / sqrt(d)
// Of scores to which rows of a table are added, the gradient of a row is the sum of ds where it was added.
#include "workloads/engine/layers/layers.hpp"

#include "ert/base/error.hpp"

#include <bit>
#include <cmath>

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
    cache = build.list.resident(cache);
    build.caches.push_back(cache);
    build.write_simple(
        unit,
        [&](const Tensor&) {
            AttendCached attend{source, cache, build.list.tensor(build.map(unit.layer)), layer.heads, layer.kv_heads};
            if (const auto partial = partial_attention_of(attend, build.attention_blocks))
                attend.partial = build.list.tensor(*partial);
            build.list.append(attend, "roof:attention");
            return attend.result;
        },
        [](const Tensor&) -> Tensor { throw Unsupported("attention over a cache is not trained"); });
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
    build.begin(unit, Phase::forward);
    const Tensor source = build.input(unit);
    const Tensor each{.batch = source.batch, .channels = layer.heads, .height = source.height, .width = source.width};
    const Attention attention{
        .source = source,
        .result = build.list.tensor(build.map(unit.layer)),
        .sums = build.list.tensor(each),
        .heads = layer.heads,
        .kv_heads = layer.kv_heads,
        .causal = layer.causal,
        .added = layer.count == 0
                     ? AddedScores{}
                     : AddedScores{.rows = build.parameters.of(unit.layer, false).read,
                                   .places = build.list.constant({layer.places.begin(), layer.places.end()}),
                                   .windows = layer.windows}};
    build.list.append(attention, {}, build.work_of(unit, Phase::forward));
    build.put(unit, attention.result);
    build.tape.emplace_back([=, &build] {
        build.begin(unit, Phase::backward);
        const AttentionGradient gradient{
            .gradient = build.gradient(unit.layer),
            .source = source,
            .result = attention.result,
            .sums = attention.sums,
            .to_source = build.list.tensor(source),
            .products = build.list.tensor(each),
            .heads = attention.heads,
            .kv_heads = attention.kv_heads,
            .causal = attention.causal,
            .added = attention.added,
            .to_rows = attention.added.rows ? build.parameters.of(unit.layer, false).gradient : Tensor{}};
        build.list.append(gradient, {}, build.work_of(unit, Phase::backward));
        if (gradient.to_rows) build.completed(unit.layer, false);
        build.give(build.source(unit), gradient.to_source);
    });
}

// Rotary positions of queries and keys. The gradient of a turn is turned back.

namespace {

Tensor angles_of(const List& list, int first, int positions, int channels, float theta)
{
    const int half = channels / 2;
    std::vector<std::int32_t> numbers(static_cast<std::size_t>(2 * positions * half));
    for (int k = 0; k < positions * half; ++k) {
        const double angle = (first + k / half) * std::pow(static_cast<double>(theta), -2.0 * (k % half) / channels);
        numbers[static_cast<std::size_t>(k)] = std::bit_cast<std::int32_t>(static_cast<float>(std::cos(angle)));
        numbers[static_cast<std::size_t>(positions * half + k)] =
            std::bit_cast<std::int32_t>(static_cast<float>(std::sin(angle)));
    }
    const Tensor kept = list.constant(std::move(numbers));
    return {.batch = 2, .channels = half, .height = positions, .block = kept.block};
}

}  // namespace

void rope(Builder& build, const Unit& unit)
{
    const model::Layer& layer = build.layer(unit);
    const int heads = layer.heads + layer.kv_heads;
    const Tensor angles = angles_of(build.list, layer.first, layer.output.height * layer.output.width,
                                    layer.output.channels / (layer.heads + 2 * layer.kv_heads), layer.theta);
    const auto turn = [=, &build](const Tensor& from, const Tensor& to, bool back) {
        build.list.append(Turn{from, to, angles, heads, back}, "roof:rope");
        return to;
    };
    build.write_simple(
        unit, [&](const Tensor& source) { return turn(source, build.list.tensor(source), false); },
        [=, &build](const Tensor& given) { return turn(given, build.list.tensor(given), true); });
}

}  // namespace roof::ir
