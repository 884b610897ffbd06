// The linear layer:  y[n,o] = b[o] + sum over i of w[o,i] * x[n,i]
//   dx[n,i] = sum over o of w[o,i] * dy[n,o];  dw[o,i] = sum over n of x[n,i] * dy[n,o];  db[o] = sum over n of dy[n,o]
// The layer's own update computes dw and does not store it. With ranks dw is stored, because it is exchanged. Operands
// have the settings' precision; in bf16 the passes read a copy of the weights, which the update writes. Sums are fp32.
// After a flattened map the source is first reordered to PyTorch's order.
#include "workloads/kernels/linear/products.hpp"
#include "workloads/onednn/layers/layers.hpp"

namespace roof::onednn {
namespace {

/// Shared by the stages. The rows of the source, the result and its gradient are contiguous.
struct Linear {
    LinearShape shape;
    Tensor source;
    Tensor weights;  ///< as the passes read them
    Trained* trained;
    Trained bias;

    const char* implementation() const { return linear_implementation(source.precision()); }
};

void forward(Builder& build, const Unit& unit, const Linear& linear)
{
    const Tensor result = build.program.tensor(plain(build.flat(unit.layer)));
    build.program.append(
        [=, relu = unit.fused()] {
            linear_forward(linear.shape, linear.weights.elements(), linear.bias.value.data(), linear.source.elements(),
                           result.data(), relu);
        },
        {linear.source, linear.weights, result, linear.bias.value}, linear.implementation());
    const bool last = readers(build.graph, unit.last()).empty();  // then the loss reads it in fp32
    const Precision precision = last ? Precision::fp32 : build.settings.precision;
    build.put(unit, build.program.in_layout(result, plain(build.flat(unit.layer), precision)));
}

/// Returns the result's gradient.
Tensor backward(Builder& build, const Unit& unit, const Linear& linear)
{
    const Precision precision = build.settings.precision;
    const Tensor given =
        build.program.in_layout(gradient_before_relu(build, unit).tensor, plain(build.flat(unit.layer), precision));
    if (linear.bias.gradient)
        build.program.append(
            [=, gradient = linear.bias.gradient] {
                linear_backward_bias(linear.shape, given.elements(), gradient.data());
            },
            {given, linear.bias.gradient}, linear.implementation());
    if (build.settings.ranks != nullptr) {
        build.add_work(build.work(unit.layer).backward_weights);
        build.program.append(
            [=, gradient = linear.trained->gradient] {
                linear_backward_weights(linear.shape, linear.source.elements(), given.elements(), gradient.data());
            },
            {linear.source, given, linear.trained->gradient}, linear.implementation());
    }
    if (build.is_image(build.source(unit))) return given;

    build.add_work(build.work(unit.layer).backward_data);
    const Tensor to_source = build.program.tensor(plain(dims_of(linear.source.desc())));
    build.program.append(
        [=] { linear_backward_data(linear.shape, linear.weights.elements(), given.elements(), to_source.data()); },
        {given, linear.weights, to_source}, linear.implementation());
    build.give(build.source(unit), {to_source});
    return given;
}

/// The weights' gradient and the update in one pass: the gradient is not stored.
Work update_work(const Linear& linear, const model::LayerWork& work)
{
    const double weights = 1.0 * linear.shape.inputs * linear.shape.outputs;
    const double values = 1.0 * linear.shape.batch * (linear.shape.inputs + linear.shape.outputs);
    const double written_each = 2 * sizeof(float) + (linear.trained->copy ? sizeof(BFloat16) : 0);
    const double moved_each = 2 * sizeof(float) + written_each;
    const Bytes bytes{weights * moved_each + values * traits(linear.source.precision()).storage_bytes};
    constexpr double descent = 6;  // FLOPs, as sgd.cpp has it
    return {.flops = work.backward_weights.flops + Flops{descent * weights},
            .compulsory = bytes,
            .no_reuse = std::max(bytes, work.backward_weights.no_reuse),
            .read = bytes - Bytes{weights * written_each},
            .written = {weights * written_each}};
}

void update(Builder& build, const Unit& unit, const Linear& linear, const Tensor& given)
{
    build.begin(Unit{.layer = unit.layer}, Phase::update);
    build.program.add_work(update_work(linear, build.work(unit.layer)));
    const Trained& trained = *linear.trained;
    build.program.append(
        [=, value = trained.value, momentum = trained.momentum, copy = trained.copy,
         rate = build.settings.learning_rate] {
            linear_update(linear.shape, linear.source.elements(), given.elements(), rate,
                          {value.data(), momentum.data(), copy.elements().as<BFloat16>()});
        },
        {linear.source, given, trained.value, trained.momentum, trained.copy ? trained.copy : trained.value},
        linear.implementation());
}

}  // namespace

void linear(Builder& build, const Unit& unit)
{
    const Tensor given = build.input(unit);
    const int inputs = static_cast<int>(build.graph.input_shape(unit.layer).elements());
    const int outputs = build.layer(unit).output.channels;
    const LinearShape shape{.batch = build.settings.batch, .inputs = inputs, .outputs = outputs};
    Trained& weight = build.train_rows(unit.layer, {outputs, inputs}, shape.row);
    Trained bias;
    if (build.layer(unit).bias) bias = build.train(unit.layer, true, plain({outputs}), {outputs});

    begin_with_work(build, unit, Phase::forward);
    const Linear made{.shape = shape,
                      .source = build.program.in_layout(given, plain(dims_of(given.desc()), build.settings.precision)),
                      .weights = weight.copy ? weight.copy : weight.value,
                      .trained = &weight,
                      .bias = bias};
    forward(build, unit, made);

    build.tape.emplace_back([=, &build] {
        build.begin(unit, Phase::backward);
        const Tensor result_gradient = backward(build, unit, made);
        if (build.settings.ranks != nullptr) return;
        made.trained->factors = {made.shape, made.source, result_gradient};
        build.updates.emplace_back([=, &build] { update(build, unit, made, result_gradient); });
    });
}

}  // namespace roof::onednn
