// The linear layer:  y[n,o] = b[o] + sum over i of w[o,i] * x[n,i]
//   dx[n,i] = sum over o of w[o,i] * dy[n,o];  dw[o,i] = sum over n of x[n,i] * dy[n,o];  db[o] = sum over n of dy[n,o]
// Operands have the precision of the activations; in bf16 the passes read a copy of the weights, which the update
// writes. Sums are fp32. The source of a flattened map is read in PyTorch's order.
#include "workloads/onednn/operations/binding.hpp"

namespace roof::onednn {
namespace {

LinearShape shape_of(const ir::Tensor& source, const ir::Tensor& result)
{
    const std::size_t inputs = source.elements() / static_cast<std::size_t>(source.batch);
    return {.batch = source.batch, .inputs = static_cast<int>(inputs), .outputs = result.channels};
}

/// In the rows and the precision that the products read.
Tensor rows_of(Binding& to, const ir::Tensor& tensor)
{
    return to.read(tensor, plain(dims_of(tensor), to.settings.precision));
}

Tensor weights_of(const Trained& trained)
{
    return trained.copy ? trained.copy : trained.value;
}

/// Rows `apart` numbers apart, a gradient only where it is stored, and a bf16 copy if the passes read bf16.
const Trained& train_rows(Binding& to, const ir::Tensor& piece, const LinearShape& shape)
{
    const Dims dims{shape.outputs, shape.inputs};
    const Desc layout = rows(dims, shape.row);
    Trained& made = to.trained_of(piece);
    // Weights that an embedding has, too, are there already.
    if (!made.value) to.train(piece, layout, dims, !updates_from_factors(to.settings));
    if (to.settings.precision == Precision::bf16)
        made.copy = to.program.resident(rows(dims, shape.row, Precision::bf16));
    return made;
}

void forward(Binding& to, const ir::Multiply& operation)
{
    const LinearShape shape = shape_of(operation.source, operation.result);
    const Tensor weights = weights_of(train_rows(to, operation.weights, shape));
    const Dims outputs{shape.outputs};
    const Tensor bias = operation.bias ? to.train(operation.bias, plain(outputs), outputs).value : Tensor{};
    const Tensor source = rows_of(to, operation.source);
    const Tensor result = to.program.tensor(plain(dims_of(operation.result)));
    to.program.append(
        [=, relu = operation.relu] {
            linear_forward(shape, weights.elements(), bias.data(), source.elements(), result.data(), relu);
        },
        {source, weights, result, bias}, linear_implementation(source.precision()));
    to.set(operation.result, to.program.in_layout(result, plain(operation.result)));
}

void backward_data(Binding& to, const ir::Multiply& operation)
{
    const Tensor given = rows_of(to, operation.result);
    const Tensor weights = weights_of(to.trained_of(operation.weights));
    const Tensor to_source = to.write(operation.source, plain(dims_of(operation.source)));
    to.program.append(
        [=, shape = shape_of(operation.source, operation.result)] {
            linear_backward_data(shape, weights.elements(), given.elements(), to_source.data());
        },
        {given, weights, to_source}, linear_implementation(given.precision()));
}

void backward_weights(Binding& to, const ir::Multiply& operation)
{
    const Tensor source = rows_of(to, operation.source);
    const Tensor given = rows_of(to, operation.result);
    const Tensor gradient = to.trained_of(operation.weights).gradient;
    to.program.append(
        [=, shape = shape_of(operation.source, operation.result)] {
            linear_backward_weights(shape, source.elements(), given.elements(), gradient.data());
        },
        {source, given, gradient}, linear_implementation(source.precision()));
}

}  // namespace

Desc layout_of_weights(const ir::Multiply& operation)
{
    const LinearShape shape = shape_of(operation.source, operation.result);
    return rows(Dims{shape.outputs, shape.inputs}, shape.row);
}

void bind(Binding& to, const ir::Multiply& operation)
{
    if (operation.pass == Pass::forward) return forward(to, operation);
    if (operation.pass == Pass::backward_data) return backward_data(to, operation);
    backward_weights(to, operation);
}

/// The ReLU of a product without bias; products add theirs.
void bind(Binding& to, const ir::AddBias& operation)
{
    const Tensor values = to.read(operation.values);
    append_sum(to.program, to.write(operation.values, values.desc()), values, {}, ReluPass::forward);
}

void bind_bias_gradient(Binding& to, const ir::ReduceGradient& operation)
{
    const ir::Tensor& summed = operation.result ? operation.result : operation.share;
    if (operation.result)
        bind(to, ir::MaskGradient{operation.share, operation.other_share, operation.output, operation.result});
    const Tensor given = rows_of(to, summed);
    const Tensor gradient = to.trained_of(operation.sum).gradient;
    to.program.append(
        [=, shape = LinearShape{.batch = summed.batch, .outputs = summed.channels}] {
            linear_backward_bias(shape, given.elements(), gradient.data());
        },
        {given, gradient}, linear_implementation(given.precision()));
}

void bind(Binding& to, const ir::DescendProduct& operation)
{
    Trained& trained = to.trained_of(operation.values);
    const Tensor source = rows_of(to, operation.source);
    const Tensor given = rows_of(to, operation.gradient);
    const LinearShape shape = shape_of(operation.source, operation.gradient);
    trained.factors = {shape, source, given};
    to.program.append(
        [=, value = trained.value, momentum = trained.momentum, copy = trained.copy, rate = operation.learning_rate] {
            linear_update(shape, source.elements(), given.elements(), rate,
                          {value.data(), momentum.data(), copy.elements().as<BFloat16>()});
        },
        {source, given, trained.value, trained.momentum, weights_of(trained)},
        linear_implementation(source.precision()));
}

}  // namespace roof::onednn
