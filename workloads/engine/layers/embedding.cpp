// Embedding: y[n,p] = w[token of n,p];  dw[k] = the sum of dy[n,p] over the positions with token k. A linear layer with
// the same weights writes its part of the gradient before. Positions: y[n,p] = x[n,p] + w[p];  dw[p] = the sum of
// dy[n,p] over n;  dx = dy One value for all positions: each position is an image. Taken positions: y[n,p] = x[n,p +
// first];  dx[n,p] = dy[n,p - first]; zeros where there is none
#include "workloads/engine/layers/layers.hpp"

#include "ert/base/error.hpp"

namespace roof::ir {

void embedding(Builder& build, const Unit& unit)
{
    build.begin_with_work(unit, Phase::forward);
    const Trained weights = build.parameters.of(unit.layer, false);
    const Embed embed{build.input(unit), weights.read, build.list.tensor(build.map(unit.layer))};
    build.list.append(embed, "roof:embedding");
    build.put(unit, embed.result);
    build.tape.emplace_back([=, &build] {
        build.begin(unit, Phase::backward);
        build.add_flops(build.work(unit.layer).backward_weights.flops);
        const bool adds = build.graph.shares_weights(unit.layer);
        build.list.append(EmbedGradient{embed.tokens, build.gradient(unit.layer), weights.gradient, adds},
                          "roof:embedding");
        build.completed(unit.layer, false);
    });
}

void positions(Builder& build, const Unit& unit)
{
    build.begin_with_work(unit, Phase::forward);
    const Trained weights = build.parameters.of(unit.layer, false);
    const Tensor result = build.list.tensor(build.map(unit.layer));
    const bool is_same = build.layer(unit).is_same;
    AddPositions add{build.input(unit), weights.read, result, build.layer(unit).first};
    if (is_same) add = {as_rows(add.source), weights.read, as_rows(result)};
    build.list.append(add, "roof:positions");
    build.put(unit, result);
    build.tape.emplace_back([=, &build] {
        if (add.first > 0) throw Unsupported("positions that do not begin with the first are not trained");
        build.begin(unit, Phase::backward);
        build.add_flops(build.work(unit.layer).backward_weights.flops);
        const Tensor given = build.gradient(unit.layer);
        build.list.append(AddPositionsGradient{is_same ? as_rows(given) : given, weights.gradient}, "roof:positions");
        build.completed(unit.layer, false);
        build.give(build.source(unit), given);
    });
}

void take_positions(Builder& build, const Unit& unit)
{
    const int first = build.layer(unit).first;
    const std::vector<int>& order = build.layer(unit).order;
    const auto append = [&build, &order](const Tensor& source, const Tensor& result, int from, bool is_back) {
        std::vector<std::int32_t> places(order.size());
        for (std::size_t k = 0; k < order.size(); ++k) {
            const auto place = static_cast<std::size_t>(order[k]);
            places[is_back ? place : k] = static_cast<std::int32_t>(is_back ? k : place);
        }
        const Tensor constant = order.empty() ? Tensor{} : build.list.constant(std::move(places));
        build.list.append(TakePositions{source, result, from, constant}, "roof:positions");
        return result;
    };
    build.write_simple(
        unit,
        [&](const Tensor& source) { return append(source, build.list.tensor(build.map(unit.layer)), first, false); },
        [=, &build](const Tensor& given) {
            return append(given, build.gradient_like(build.source(unit)), -first, true);
        });
}

}  // namespace roof::ir
