// Softmax cross-entropy, the mean over the batch:  p[n,c] = exp(x[n,c]) / sum over c of exp(x[n,c])
//   loss = -1/N * sum over n of log p[n,label n];   dx[n,c] = (p[n,c] - [c is n's label]) / N
// Sums are double, after the row's maximum is subtracted. A batch has few logits, so the cost is negligible.
#include "workloads/onednn/operations/binding.hpp"

#include <algorithm>
#include <cmath>

namespace roof::onednn {
namespace {

/// Writes the row's gradient; returns -log of the label's probability.
template <class Element>
double loss_of_row(Element* gradient, const float* logit, int classes, int label, int batch)
{
    const double largest = *std::max_element(logit, logit + classes);
    double sum = 0;
    for (int c = 0; c < classes; ++c) sum += std::exp(logit[c] - largest);
    for (int c = 0; c < classes; ++c) {
        const auto probability = static_cast<float>(std::exp(logit[c] - largest) / sum);
        narrow((probability - (c == label ? 1.0F : 0.0F)) / static_cast<float>(batch), gradient[c]);
    }
    return std::log(sum) - (logit[label] - largest);
}

double mean_loss(const Elements& gradient, const float* logits, const int* labels, int batch, int classes)
{
    double loss = 0;
#pragma omp parallel for reduction(+ : loss)
    for (int n = 0; n < batch; ++n) {
        const std::ptrdiff_t row = std::ptrdiff_t{n} * classes;
        loss += gradient.precision == Precision::bf16
                    ? loss_of_row(gradient.as<BFloat16>() + row, logits + row, classes, labels[n], batch)
                    : loss_of_row(gradient.as<float>() + row, logits + row, classes, labels[n], batch);
    }
    return loss / batch;
}

}  // namespace

void bind(Binding& to, const ir::Loss& operation)
{
    const Tensor logits = to.read(operation.logits, plain(operation.logits));
    const Tensor gradient = to.write(operation.gradient, plain(operation.gradient));
    const int batch = operation.logits.batch;
    const int classes = operation.logits.channels * operation.logits.height * operation.logits.width;
    to.program.append(
        [=, &state = to.state] {
            state.loss = mean_loss(gradient.elements(), logits.data(), state.labels, batch, classes);
        },
        {logits, gradient}, "roof:softmax");
}

void bind(Binding& to, const ir::Widen& operation)
{
    for (std::size_t k = 0; k < operation.from.size(); ++k)
        to.set(operation.to[k], to.program.in_layout(to.read(operation.from[k]), plain(operation.to[k])));
}

}  // namespace roof::onednn
