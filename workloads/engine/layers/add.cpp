// Residual sum with its ReLU:  y = max(a + b, 0). a and b may be batch norms that are not yet normalised. Both inputs
// have the gradient of the sum. The backward pass also computes the sums that the first batch norm needs. An executor that
// wants whole norms gets them in the stage of the sum and its ReLU, which moves each map once.
#include "workloads/engine/layers/layers.hpp"

#include <algorithm>
#include <iterator>

namespace roof::ir {
namespace {

/// Adds the FLOPs of a sum with its batch norms and its ReLU in one stage.
void add_whole_flops(Builder& build, std::vector<int> layers, const Unit& unit, Phase phase)
{
    const bool backward = phase == Phase::backward;
    layers.push_back(unit.relu);
    if (!backward) layers.push_back(unit.layer);
    for (const int layer : layers)
        build.add_flops(backward ? build.work(layer).backward_data.flops : build.work(layer).forward.flops);
}

}  // namespace

void add(Builder& build, const Unit& unit)
{
    std::vector<int> inputs = build.layer(unit).inputs;
    std::vector<int> whole;
    std::ranges::copy_if(inputs, std::back_inserter(whole), [&](int input) { return is_whole_with_sum(build, input); });
    const bool is_whole = !whole.empty();
    std::vector<int> layers = whole;
    layers.insert(layers.end(), {unit.layer, unit.relu});
    if (is_whole) {
        build.begin(layers, Phase::forward);
        add_whole_flops(build, whole, unit, Phase::forward);
    } else {
        build.begin_with_work(unit, Phase::forward);
    }
    for (const int norm : whole) {
        build.output(norm).tensor = build.input({.layer = norm});
        build.output(norm).deferred = true;
        find_statistics(build, {.layer = norm}, build.output(norm).tensor);
    }
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
    const bool is_signed = !is_whole && unit.fused() && first.deferred && result.channels % signs_per_byte == 0;
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
    build.program.append(sum, "roof:normalise+sum");
    build.put(unit, result);

    build.tape.emplace_back([=, &build] {
        is_whole ? build.begin(layers, Phase::backward) : build.begin(unit, Phase::backward);
        const auto give = [&](const Tensor& gradient) {
            for (const int input : inputs) build.give(input, {gradient, true});
        };
        if (!first.deferred) return give(gradient_of_unit(build, unit));
        const std::vector<Builder::Share> given = build.shares(unit.last(), 2);
        if (is_whole)
            add_whole_flops(build, whole, unit, Phase::backward);
        else if (unit.fused())
            build.add_flops(build.work(unit.relu).backward_data.flops);
        const Tensor mask = unit.fused() ? build.output(unit.relu).tensor : Tensor{};
        const Tensor other = given.size() > 1 ? given[1].tensor : Tensor{};
        const Tensor gradient = mask || other ? build.over(given) : given.front().tensor;
        if (other && is_whole) build.add_flops(Flops{static_cast<double>(other.elements())});
        const bool is_pair = (signs || is_whole) && second.deferred;
        reduce(build, inputs[0],
               {.share = given.front().tensor,
                .other_share = other,
                .output = signs ? Tensor{} : mask,
                .signs = signs,
                .source = first.tensor,
                .result = mask || other ? gradient : Tensor{}},
               is_pair ? inputs[1] : -1);
        if (is_whole) {
            // The second batch norm's gradient overwrites that of the sum, which nothing else reads.
            const int last = is_pair ? inputs[1] : inputs[0];
            spread(build, last,
                   {.gradient = gradient,
                    .source = build.output(last).tensor,
                    .result = is_pair ? gradient : build.program.tensor(gradient)},
                   is_pair ? inputs[0] : -1);
            if (!is_pair) build.give(inputs[1], {gradient});
            return;
        }
        for (const int each : {0, 1}) {
            if (is_pair && is_by_kernels(inputs[0]) && is_by_kernels(inputs[1]))
                build.output(inputs[each]).partner = inputs[1 - each];
        }
        give(gradient);
    });
}

}  // namespace roof::ir
