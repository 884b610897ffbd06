// Layers that only move channels: concatenation, slice, shuffle, and flatten where PyTorch's order is read. The slices
// of one map write their gradients into one tensor.
#include "workloads/engine/ir/formulas.hpp"
#include "workloads/engine/layers/layers.hpp"

namespace roof::ir {
namespace {

void append(Builder& build, const CopyChannels& copy)
{
    build.list.append(copy, "roof:channels");
}

/// Writes a layer whose channel k is channel order[k] of its source, where both have as many positions as the layer's
/// output.
void reorder(Builder& build, const Unit& unit, const std::vector<int>& order)
{
    const Tensor own = build.map(unit.layer);
    const auto move = [&build, own](const Tensor& source, const Tensor& result, const std::vector<int>& from) {
        const auto seen = [&own](Tensor tensor) {
            tensor.channels = own.channels;
            tensor.height = own.height;
            tensor.width = own.width;
            return tensor;
        };
        const Tensor constant = build.list.constant({from.begin(), from.end()});
        append(build, {.source = seen(source), .result = seen(result), .count = own.channels, .order = constant});
        return result;
    };
    build.write_simple(
        unit, [&](const Tensor& source) { return move(source, build.list.tensor(own), order); },
        [=, &build](const Tensor& given) {
            std::vector<int> back(order.size());
            for (std::size_t k = 0; k < order.size(); ++k)
                back[static_cast<std::size_t>(order[k])] = static_cast<int>(k);
            return move(given, build.gradient_like(build.source(unit)), back);
        });
}

}  // namespace

void concat(Builder& build, const Unit& unit)
{
    const std::vector<int> inputs = build.layer(unit).inputs;
    build.begin_with_work(unit, Phase::forward);
    const Tensor result = build.list.tensor(build.map(unit.layer));
    int first = 0;
    for (const int input : inputs) {
        const Tensor source = build.output(input);
        append(build, {.source = source, .result = result, .to = first, .count = source.channels});
        first += source.channels;
    }
    build.put(unit, result);
    build.tape.emplace_back([=, &build] {
        build.begin_with_work(unit, Phase::backward);
        const Tensor given = build.gradient(unit.layer);
        int from = 0;
        for (const int input : inputs) {
            const Tensor share = build.gradient_like(input);
            append(build, {.source = given, .result = share, .from = from, .count = share.channels});
            from += share.channels;
            build.give(input, share);
        }
    });
}

void slice(Builder& build, const Unit& unit)
{
    const int first = build.layer(unit).first;
    build.begin_with_work(unit, Phase::forward);
    const Tensor result = build.list.tensor(build.map(unit.layer));
    append(build, {.source = build.input(unit), .result = result, .from = first, .count = result.channels});
    build.put(unit, result);
    build.tape.emplace_back([=, &build] {
        build.begin_with_work(unit, Phase::backward);
        const int source = build.source(unit);
        const std::vector<int> slices = whole_cut(build.graph, source);
        const Tensor given = build.gradient(unit.layer);
        Tensor& to_source = build.gradients_of_slices[source];
        if (slices.empty() || unit.layer == slices.back()) to_source = build.list.tensor(build.map(source));
        if (slices.empty())
            append(build, {.source = given, .result = to_source, .from = -first, .count = to_source.channels});
        else
            append(build, {.source = given, .result = to_source, .to = first, .count = given.channels});
        if (slices.empty() || unit.layer == slices.front()) build.give(source, to_source);
    });
}

void shuffle(Builder& build, const Unit& unit)
{
    reorder(build, unit, build.layer(unit).order);
}

void flatten(Builder& build, const Unit& unit)
{
    if (!is_in_pytorch_order(build.graph, unit.layer)) return build.pass_through(unit);
    const Tensor map = build.input(unit);
    const auto positions = static_cast<std::size_t>(map.height) * static_cast<std::size_t>(map.width);
    std::vector<int> order(positions * static_cast<std::size_t>(map.channels));
    for (std::size_t k = 0; k < order.size(); ++k)
        order[planar_place(k, static_cast<std::size_t>(map.channels), positions)] = static_cast<int>(k);
    reorder(build, unit, order);
}

}  // namespace roof::ir
