// Residual sum with its ReLU:  y = max(a + b, 0). a and b may be batch norms that are not yet normalised. Both inputs
// have the gradient of the sum. The backward pass also computes the sums that the first batch norm needs.
#include "workloads/engine/layers/layers.hpp"

#include <algorithm>
#include <iterator>

namespace roof::ir {
namespace {

/// A sum with a ReLU and its batch norms in one stage, which moves each map once.
void whole_sum(Builder& build, const Unit& unit, const std::vector<int>& norms)
{
    std::vector<int> layers = norms;
    layers.insert(layers.end(), {unit.layer, unit.relu});
    const auto add_work = [=, &build](bool backward, std::size_t read, std::size_t written) {
        const Tensor map = build.map(unit.layer);
        const Tensor trained{.batch = 2 * static_cast<int>(norms.size()), .channels = map.channels};
        std::vector<Tensor> reads(read, map), writes(written, map);
        reads.push_back(trained);
        if (backward) writes.push_back(trained);
        Work work = moving(reads, writes, 0);
        for (const int layer : layers) {
            if (backward && layer == unit.layer) continue;
            work.flops += backward ? build.work(layer).backward_data.flops : build.work(layer).forward.flops;
        }
        build.program.add_work(work);
    };
    build.begin(layers, Phase::forward);
    add_work(false, 2, 1);
    for (const int norm : norms) {
        build.output(norm).tensor = build.input({.layer = norm});
        find_statistics(build, {.layer = norm}, build.output(norm).tensor);
    }
    const std::vector<int>& inputs = build.layer(unit).inputs;
    const int addend = norms.size() == 2 ? -1 : inputs[inputs[0] == norms[0] ? 1 : 0];
    const Output first = build.output(norms[0]);
    const Output second = addend < 0 ? build.output(norms[1]) : Output{.tensor = build.output(addend).tensor};
    const Normalise sum{.source = first.tensor,
                        .scale = first.channels.scale,
                        .shift = first.channels.shift,
                        .other = second.tensor,
                        .other_scale = second.channels.scale,
                        .other_shift = second.channels.shift,
                        .result = build.program.tensor(build.map(unit.layer)),
                        .relu = true};
    build.program.append(sum,
                         {sum.source, sum.scale, sum.shift, sum.other, sum.other_scale, sum.other_shift, sum.result},
                         "roof:normalise+sum");
    build.put(unit, sum.result);

    build.tape.emplace_back([=, &build] {
        build.begin(layers, Phase::backward);
        const std::vector<Builder::Share> given = build.shares(unit.relu, 2);
        add_work(true, given.size() + 1 + norms.size(), 1 + norms.size());
        const Tensor other = given.size() > 1 ? given[1].tensor : Tensor{};
        if (other) build.add_flops(Flops{static_cast<double>(other.elements())});
        const Tensor gradient = build.over(given);
        reduce(build, norms[0],
               {.share = given.front().tensor,
                .other_share = other,
                .output = sum.result,
                .source = sum.source,
                .result = gradient},
               addend < 0 ? norms[1] : -1);
        // The second batch norm's gradient overwrites that of the sum, which nothing else reads.
        spread(build, norms.back(),
               {.gradient = gradient,
                .source = build.output(norms.back()).tensor,
                .result = addend < 0 ? gradient : build.program.tensor(gradient)},
               addend < 0 ? norms[0] : -1);
        if (addend >= 0) build.give(addend, {gradient});
    });
}

}  // namespace

void add(Builder& build, const Unit& unit)
{
    std::vector<int> inputs = build.layer(unit).inputs;
    std::vector<int> whole;
    std::ranges::copy_if(inputs, std::back_inserter(whole), [&](int input) { return is_whole_with_sum(build, input); });
    if (!whole.empty()) return whole_sum(build, unit, whole);
    build.begin_with_work(unit, Phase::forward);
    const auto is_by_kernels = [&build](int input) {
        return build.output(input).deferred && !build.output(input).moments;
    };
    // The first, whose sums are found with the mask, is a batch norm; one that is read for its sums where there is one.
    if (build.output(inputs[0]).deferred ? !is_by_kernels(inputs[0]) && is_by_kernels(inputs[1])
                                         : build.output(inputs[1]).deferred)
        std::swap(inputs[0], inputs[1]);
    const Output first = build.output(inputs[0]);
    const Output second = build.output(inputs[1]);
    const Tensor result = build.program.tensor(build.map(unit.layer));
    // The backward pass reads a bit instead of the output.
    Tensor signs = result;
    signs.channels /= signs_per_byte;
    signs.precision = Precision::int8;
    const bool is_signed = unit.fused() && first.deferred && result.channels % signs_per_byte == 0;
    signs = is_signed ? build.program.tensor(signs) : Tensor{};
    const auto scale_of = [](const Output& output) { return output.deferred ? output.channels.scale : Tensor{}; };
    const auto shift_of = [](const Output& output) { return output.deferred ? output.channels.shift : Tensor{}; };
    const Normalise sum{.source = first.tensor,
                        .scale = scale_of(first),
                        .shift = shift_of(first),
                        .other = second.tensor,
                        .other_scale = scale_of(second),
                        .other_shift = shift_of(second),
                        .result = result,
                        .signs = signs,
                        .relu = unit.fused()};
    build.program.append(
        sum, {sum.source, sum.scale, sum.shift, sum.other, sum.other_scale, sum.other_shift, sum.result, sum.signs},
        "roof:normalise+sum");
    build.put(unit, result);

    build.tape.emplace_back([=, &build] {
        build.begin(unit, Phase::backward);
        const auto give = [&](const Tensor& gradient) {
            for (const int input : inputs) build.give(input, {gradient, true});
        };
        if (!first.deferred) return give(gradient_of_unit(build, unit));
        if (unit.fused()) build.add_work(build.work(unit.relu).backward_data);
        const std::vector<Builder::Share> given = build.shares(unit.last(), 2);
        const Tensor mask = unit.fused() ? build.output(unit.relu).tensor : Tensor{};
        const Tensor other = given.size() > 1 ? given[1].tensor : Tensor{};
        const Tensor gradient = mask || other ? build.over(given) : given.front().tensor;
        const bool is_pair = signs && second.deferred;
        reduce(build, inputs[0],
               {.share = given.front().tensor,
                .other_share = other,
                .output = signs ? Tensor{} : mask,
                .signs = signs,
                .source = first.tensor,
                .result = mask || other ? gradient : Tensor{}},
               is_pair ? inputs[1] : -1);
        for (const int each : {0, 1}) {
            if (is_pair && is_by_kernels(inputs[0]) && is_by_kernels(inputs[1]))
                build.output(inputs[each]).partner = inputs[1 - each];
        }
        give(gradient);
    });
}

}  // namespace roof::ir
