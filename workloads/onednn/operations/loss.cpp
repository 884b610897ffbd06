// Softmax cross-entropy of each position, the mean over all:  p[n,c] = exp(x[n,c]) / sum over c of exp(x[n,c])
//   loss = -1/N * sum over n of log p[n,label n];   dx[n,c] = (p[n,c] - [c is n's label]) / N
// The row's maximum is subtracted first. Loops take the logits as they lie: several positions' side by side in a layout
// with blocks.
#include "workloads/engine/activations.hpp"
#include "workloads/kernels/parallel.hpp"
#include "workloads/onednn/operations/positions.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace roof::onednn {
namespace {

/// Sums of a thread: so few that it reads the logits again from a near cache.
constexpr Dim side_by_side = 256;
/// Channels of a layout without blocks that have sums of their own.
constexpr Dim widest = 64;
/// Blocks of channels whose largest logits are known before their exponentials are summed: they stay in the L1.
constexpr Dim blocks_at_once = 8;

/// The layout of logits that have none with channels together.
Desc layout_of(const ir::Tensor& logits)
{
    return logits.height * logits.width > 1 ? with_channels_together(plain(logits)) : plain(logits);
}

struct Losses {
    Positions at;
    Elements logits, gradient;  ///< the gradient may be none, or in the logits' place
    const int* labels;
};

/// Positions of one image that a thread takes at once, and the sums of `width` channels side by side of each.
struct Part {
    const Positions& at;
    Dim first, count, width;

    Dim numbers() const { return count * width; }
    /// Fetches the logits of these channels, which in a layout with blocks no processor foresees.
    [[gnu::always_inline]] void fetch(const float* x, Dim c) const
    {
        constexpr Dim line = 16;
        if (c >= at.channels || width != at.place) return;
        for (Dim i = 0; i < numbers(); i += line) __builtin_prefetch(x + at.at(first) + at.channel(c) + i);
    }
    /// Calls run(where they are, the place of their sums, their count) for channels from c on, no more than the width.
    template <class Run>
    [[gnu::always_inline]] void for_channels(Dim c, const Run& run) const
    {
        const Dim place = at.at(first) + at.channel(c);
        const Dim channels = std::min(width, at.channels - c);
        if (channels == width && width == at.place) return run(place, 0, numbers());
        for (Dim row = 0; row < count; ++row) run(place + row * at.place, row * width, channels);
    }
};

/// Of the logits that have one sum: their largest, and the sum of e^(x - largest). So many numbers are added in double.
struct Sums {
    std::array<float, side_by_side> largest;
    std::array<double, side_by_side> total;
};

[[gnu::always_inline]] inline void add_logits(const Part& part, const float* x, DimRange channels, Sums& to)
{
    const std::array<float, side_by_side> before = to.largest;
    std::array<float, side_by_side> sum;
    std::fill_n(sum.data(), part.numbers(), 0.0F);
    for (Dim c = channels.begin; c < channels.end; c += part.width)
        part.for_channels(
            c, [&](Dim place, Dim k, Dim count) __attribute__((always_inline)) {
#pragma omp simd
                for (Dim i = 0; i < count; ++i) {
                    const float logit = x[place + i], largest = to.largest[k + i];
                    to.largest[k + i] = logit > largest ? logit : largest;
                }
            });
    for (Dim c = channels.begin; c < channels.end; c += part.width) {
        part.fetch(x, c + blocks_at_once * part.width);
        part.for_channels(
            c, [&](Dim place, Dim k, Dim count) __attribute__((always_inline)) {
#pragma omp simd
                for (Dim i = 0; i < count; ++i)
                    sum[k + i] += engine::exponential_to_88(x[place + i] - to.largest[k + i]);
            });
    }
#pragma omp simd
    for (Dim i = 0; i < part.numbers(); ++i)
        to.total[i] = to.total[i] * static_cast<double>(engine::exponential_to_88(before[i] - to.largest[i])) +
                      static_cast<double>(sum[i]);
}

/// The row's largest logit, and the sum of all its exponentials.
[[gnu::always_inline]] inline std::pair<float, double> sum_of_row(const Sums& sums, Dim begin, Dim end)
{
    float largest = sums.largest[begin];
#pragma omp simd reduction(max : largest)
    for (Dim i = begin; i < end; ++i) largest = sums.largest[i] > largest ? sums.largest[i] : largest;
    double total = 0;
#pragma omp simd reduction(+ : total)
    for (Dim i = begin; i < end; ++i)
        total += sums.total[i] * static_cast<double>(engine::exponential_to_88(sums.largest[i] - largest));
    return {largest, total};
}

template <class Element>
[[gnu::always_inline]] inline double losses_in(const Losses& of, Dim begin, Dim end)
{
    const Positions& at = of.at;
    const float* const x = of.logits.as<float>();
    Element* const dx = of.gradient.as<Element>();
    const Dim width = std::min(at.lanes, widest);
    const float share = 1 / static_cast<float>(at.rows());
    std::array<float, side_by_side> scale, of_label;
    double loss = 0;
    for (Dim first = begin, last = 0; first < end; first = last) {
        last = std::min({end, first + side_by_side / width, (first / at.of_image + 1) * at.of_image});
        const Part part{at, first, last - first, width};
        Sums sums;
        sums.largest.fill(std::numeric_limits<float>::lowest());
        sums.total.fill(0);
        for (Dim c = 0; c < at.channels; c += blocks_at_once * width)
            add_logits(part, x, {c, std::min(at.channels, c + blocks_at_once * width)}, sums);
        for (Dim row = 0; row < part.count; ++row) {
            const auto [largest, total] = sum_of_row(sums, row * width, (row + 1) * width);
            const float label = x[at.at(first + row) + at.channel(of.labels[first + row])];
            const float row_scale = share / static_cast<float>(total);
            loss += std::log(total) - (static_cast<double>(label) - static_cast<double>(largest));
            of_label[row] = row_scale * engine::exponential_to_88(label - largest) - share;
            std::fill_n(sums.largest.data() + row * width, width, largest);
            std::fill_n(scale.data() + row * width, width, row_scale);
        }
        if (dx == nullptr) continue;
        for (Dim c = 0; c < at.channels; c += width) {
            part.fetch(x, c + blocks_at_once * width);
            part.for_channels(
                c, [&](Dim place, Dim k, Dim count) __attribute__((always_inline)) {
#pragma omp simd
                    for (Dim i = 0; i < count; ++i)
                        narrow(scale[k + i] * engine::exponential_to_88(x[place + i] - sums.largest[k + i]),
                               dx[place + i]);
                });
        }
        for (Dim row = 0; row < part.count; ++row) {
            Element* const to = dx + at.at(first + row);
            narrow(of_label[row], to[at.channel(of.labels[first + row])]);
            for (Dim c = at.channels; c < at.stored; ++c) to[at.channel(c)] = {};
        }
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
double mean_loss(const Losses& of, std::vector<double>& sums)
{
    std::ranges::fill(sums, 0.0);
    for_parts(of.at.rows(), [&](Dim thread, Dim begin, Dim end) {
        sums[static_cast<std::size_t>(thread)] = run_losses(of, begin, end);
    });
    double loss = 0;
    for (const double sum : sums) loss += sum;
    return loss / static_cast<double>(of.at.rows());
}

/// The logits as they are, if their channels are together.
Tensor logits_of(Binding& to, const ir::Tensor& logits)
{
    const Tensor own = to.read(logits);
    const auto at = positions_in(own.desc());
    return at && (at->lanes > 1 || at->channels == 1) ? own : to.read(logits, layout_of(logits));
}

}  // namespace

void bind(Binding& to, const ir::Loss& operation)
{
    const Tensor logits = logits_of(to, operation.logits);
    const Positions at = positions_of(logits.desc());
    const bool is_narrow = operation.gradient && operation.gradient.precision != operation.logits.precision;
    const Tensor gradient =
        operation.gradient ? to.write(operation.gradient, is_narrow ? layout_of(operation.gradient) : logits.desc())
                           : Tensor{};
    to.program.append(
        [=, sums = std::vector<double>(static_cast<std::size_t>(to.settings.threads)), &state = to.state]() mutable {
            state.loss = mean_loss({at, logits.elements(), gradient.elements(), state.labels}, sums);
        },
        {logits, gradient}, "roof:softmax");
}

void bind(Binding& to, const ir::Widen& operation)
{
    for (std::size_t k = 0; k < operation.from.size(); ++k)
        to.set(operation.to[k], to.program.in_layout(to.read(operation.from[k]), layout_of(operation.to[k])));
}

}  // namespace roof::onednn
