// Softmax cross-entropy, the mean over the batch:  p[n,c] = exp(x[n,c]) / sum over c of exp(x[n,c])
//   loss = -1/N * sum over n of log p[n,label n];   dx[n,c] = (p[n,c] - [c is n's label]) / N
// Sums are double, after the row's maximum is subtracted. A batch has few logits, so the cost is negligible.
#include "workloads/onednn/layers/layers.hpp"

#include <algorithm>
#include <cmath>

namespace roof::onednn {
namespace {

/// Writes the row's probabilities; returns -log of the label's.
double softmax_row(float* probability, const float* logit, int classes, int label)
{
    const double largest = *std::max_element(logit, logit + classes);
    double sum = 0;
    for (int c = 0; c < classes; ++c) sum += std::exp(logit[c] - largest);
    for (int c = 0; c < classes; ++c) probability[c] = static_cast<float>(std::exp(logit[c] - largest) / sum);
    return std::log(sum) - (logit[label] - largest);
}

double softmax(float* probabilities, const float* logits, const int* labels, int batch, int classes)
{
    double loss = 0;
#pragma omp parallel for reduction(+ : loss)
    for (int n = 0; n < batch; ++n) {
        const std::ptrdiff_t row = std::ptrdiff_t{n} * classes;
        loss += softmax_row(probabilities + row, logits + row, classes, labels[n]);
    }
    return loss / batch;
}

void gradient_in_place(float* probabilities, const int* labels, int batch, int classes)
{
#pragma omp parallel for
    for (int n = 0; n < batch; ++n) {
        float* row = probabilities + std::ptrdiff_t{n} * classes;
        row[labels[n]] -= 1;
        for (int c = 0; c < classes; ++c) row[c] /= static_cast<float>(batch);
    }
}

/// The work of a pass over the logits, with `flops` and `moves` per logit; half of the moves are writes.
Work elementwise(const Tensor& logits, double flops, double moves)
{
    const auto count = static_cast<double>(logits.stored());
    const Bytes bytes{moves * count * sizeof(float)};
    return {
        .flops = {flops * count}, .compulsory = bytes, .no_reuse = bytes, .read = bytes * 0.5, .written = bytes * 0.5};
}

}  // namespace

void softmax_cross_entropy(Builder& build)
{
    StepState& state = build.state;
    const int last = static_cast<int>(build.graph.layers().size()) - 1;
    const int batch = build.settings.batch;
    const int classes = build.graph.classes();
    build.program.begin("loss", "softmax_cross_entropy", Phase::forward);
    const Tensor& result = build.outputs[static_cast<std::size_t>(last)];
    const Tensor logits = build.program.in_layout(result, plain(dims_of(result.desc())));
    const Tensor probabilities = build.program.tensor(logits.desc());
    build.program.add_work(elementwise(logits, 4, 2));
    build.program.append(
        [=, &state] { state.loss = softmax(probabilities.data(), logits.data(), state.labels, batch, classes); },
        {logits, probabilities}, "roof:softmax");

    build.tape.emplace_back([=, &build, &state] {
        build.program.begin("loss", "softmax_cross_entropy", Phase::backward);
        build.program.add_work(elementwise(probabilities, 1, 2));
        build.program.append([=, &state] { gradient_in_place(probabilities.data(), state.labels, batch, classes); },
                             {probabilities}, "roof:softmax");
        build.give(last, {probabilities});
    });
}

}  // namespace roof::onednn
