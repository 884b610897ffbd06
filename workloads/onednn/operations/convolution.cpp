// Convolution:  y[n,o] = b[o] + sum over i and the window of w[o,i] * x[n,i]
//   dx = the correlation of dy with w rotated by 180 degrees
//   dw[o,i] = sum over n and the map of x[n,i] * dy[n,o];  db = sum of dy
// Trained weights have the layout of their gradient; where a pass needs another or bf16, each step reorders them.
#include "workloads/onednn/operations/binding.hpp"

namespace roof::onednn {

void bind(Binding& to, const ir::Convolve& operation)
{
    const ConvolutionPass& shape = operation.shape;
    const auto& [chosen, edges] = to.convolutions[operation.plan];
    const Dims biases{shape.result.channels};
    ConvolutionTensors tensors;
    if (shape.pass == Pass::forward) {
        // Weights that an embedding has, too, are there already.
        const Trained& before = to.trained_of(operation.weights);
        tensors = {.source = to.read(operation.source, edges.source),
                   .weights = before.value ? before.value
                                           : to.train(operation.weights, edges.weights, weights_of(shape)).value,
                   .result = to.write(operation.result, edges.result)};
        if (shape.bias) tensors.bias = to.train(operation.bias, plain(biases), biases).value;
    } else if (shape.pass == Pass::backward_weights) {
        tensors = {.source = to.read(operation.source, edges.source),
                   .weights = to.trained_of(operation.weights).gradient,
                   .result = to.read(operation.result)};
        if (shape.bias) tensors.bias = to.trained_of(operation.bias).gradient;
    } else {
        tensors = {.source = to.write(operation.source, edges.source),
                   .weights = to.trained_of(operation.weights).value,
                   .result = to.read(operation.result)};
    }
    append_pass(to.program, shape.pass, chosen, tensors);
}

}  // namespace roof::onednn
