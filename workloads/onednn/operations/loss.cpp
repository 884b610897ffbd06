// Softmax cross-entropy of each position, the mean over all:  p[n,c] = exp(x[n,c]) / sum over c of exp(x[n,c])
//   loss = -1/N * sum over n of log p[n,label n];   dx[n,c] = (p[n,c] - [c is n's label]) / N
// The row's maximum is subtracted first. A thread copies the logits of some positions into rows.
#include "workloads/engine/activations.hpp"
#include "workloads/kernels/parallel.hpp"
#include "workloads/onednn/operations/positions.hpp"

#include <algorithm>
#include <cmath>

namespace roof::onednn {
namespace {

/// Positions that a thread copies at once: their logits side by side are cache lines in a layout with blocks.
constexpr Dim rows_at_once = 16;

/// The layout of logits, which a map has in blocks of channels as its neighbours have.
Desc layout_of(const ir::Tensor& logits)
{
    return logits.height * logits.width > 1 ? with_channels_together(plain(logits)) : plain(logits);
}

struct Losses {
    Positions at;
    Elements logits, gradient;  ///< the gradient may be none
    const int* labels;
    float* rows;  ///< of one thread, [rows_at_once][stored]
};

/// Replaces the row's logits by their gradients; returns -log of the label's probability. Sums of so many numbers are
/// added in double.
[[gnu::always_inline]] inline double loss_of_row(float* row, Dim classes, int label, float share)
{
    constexpr Dim piece = 1024;
    float largest = row[0];
#pragma omp simd reduction(max : largest)
    for (Dim c = 0; c < classes; ++c) largest = row[c] > largest ? row[c] : largest;
    const double from_largest = static_cast<double>(row[label]) - static_cast<double>(largest);
    double total = 0;
    for (Dim first = 0; first < classes; first += piece) {
        const Dim end = first + piece < classes ? first + piece : classes;
        float sum = 0;
#pragma omp simd reduction(+ : sum)
        for (Dim c = first; c < end; ++c) {
            row[c] = engine::exponential(row[c] - largest);
            sum += row[c];
        }
        total += static_cast<double>(sum);
    }
    const float scale = share / static_cast<float>(total);
#pragma omp simd
    for (Dim c = 0; c < classes; ++c) row[c] *= scale;
    row[label] -= share;
    return std::log(total) - from_largest;
}

template <class Element>
[[gnu::always_inline]] inline double losses_in(const Losses& of, Dim begin, Dim end)
{
    const Dim stored = of.at.stored;
    const float share = 1 / static_cast<float>(of.at.rows());
    double loss = 0;
    for (Dim first = begin; first < end; first += rows_at_once) {
        const DimRange positions{first, std::min(end, first + rows_at_once)};
        read_channels<float>(of.at, of.logits, positions, {0, stored}, of.rows, stored);
        for (Dim position = first; position < positions.end; ++position)
            loss += loss_of_row(of.rows + (position - first) * stored, of.at.channels, of.labels[position], share);
        if (of.gradient.at != nullptr)
            write_channels<Element>(of.at, of.rows, stored, positions, {0, stored}, of.gradient);
    }
    return loss;
}

[[gnu::target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")]] double run_losses(const Losses& of, Dim begin,
                                                                                        Dim end)
{
    return of.gradient.precision == Precision::bf16 ? losses_in<BFloat16>(of, begin, end)
                                                    : losses_in<float>(of, begin, end);
}

/// The threads' sums are added in their order.
double mean_loss(const Losses& of, float* rows, std::vector<double>& sums)
{
    std::ranges::fill(sums, 0.0);
    for_parts(of.at.rows(), [&](Dim thread, Dim begin, Dim end) {
        Losses own = of;
        own.rows = rows + thread * rows_at_once * of.at.stored;
        sums[static_cast<std::size_t>(thread)] = run_losses(own, begin, end);
    });
    double loss = 0;
    for (const double sum : sums) loss += sum;
    return loss / static_cast<double>(of.at.rows());
}

}  // namespace

void bind(Binding& to, const ir::Loss& operation)
{
    const Tensor logits = to.read(operation.logits, layout_of(operation.logits));
    const Positions at = positions_of(logits.desc());
    const Tensor gradient = operation.gradient ? to.write(operation.gradient, layout_of(operation.gradient)) : Tensor{};
    const Tensor rows = to.program.tensor(plain(Dims{to.settings.threads, rows_at_once * at.stored}));
    to.program.append(
        [=, sums = std::vector<double>(static_cast<std::size_t>(to.settings.threads)), &state = to.state]() mutable {
            state.loss =
                mean_loss({at, logits.elements(), gradient.elements(), state.labels, nullptr}, rows.data(), sums);
        },
        {logits, gradient, rows}, "roof:softmax");
}

void bind(Binding& to, const ir::Widen& operation)
{
    for (std::size_t k = 0; k < operation.from.size(); ++k)
        to.set(operation.to[k], to.program.in_layout(to.read(operation.from[k]), layout_of(operation.to[k])));
}

}  // namespace roof::onednn
