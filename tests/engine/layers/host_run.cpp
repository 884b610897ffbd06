#include "tests/engine/layers/host_run.hpp"

#include "ert/base/error.hpp"
#include "tests/engine/layers/host_channels.hpp"
#include "tests/engine/layers/host_moments.hpp"
#include "tests/engine/layers/host_update.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace roof::ir {
namespace {

class Run : private HostChannels {
  public:
    Run(const Memory& memory, const std::vector<Tensor>& others) : HostChannels(memory), others_(others) {}

    using HostChannels::operator();

    void operator()(const ImportImages& op)
    {
        const Values from(memory_, op.from);
        Values to(memory_, op.to);
        const DepthImages images{std::max(1, op.block), op.from.channels, op.from.height, op.from.width, op.padding};
        for_places(op.to, [&](std::size_t k, std::size_t n, int y, int x, int c) {
            const std::size_t place = images.place(n, y, x, c);
            to.put(k, place == no_place ? 0 : from[place]);
        });
        std::copy_n(memory_.at<std::int32_t>(op.labels_from), op.labels.elements(),
                    memory_.at<std::int32_t>(op.labels));
    }

    void operator()(const ClearUnused& op)
    {
        Values gradient(memory_, op.gradient);
        for (std::size_t k = 0; k < op.gradient.elements(); ++k)
            if (op.weights.pytorch_place(k) == no_place) gradient.put(k, 0);
    }

    void operator()(const Convolve& op) { convolve(op, memory_); }
    void operator()(const Multiply& op) { multiply(op, memory_); }

    void operator()(const AddBias& op)
    {
        Values values(memory_, op.values);
        const Values bias(memory_, op.bias);
        const auto channels = static_cast<std::size_t>(op.values.channels);
        for (std::size_t k = 0; k < op.values.elements(); ++k) {
            const float sum = values[k] + (bias ? bias[k % channels] : 0);
            values.put(k, op.relu ? relu_of(sum) : sum);
        }
    }

    void operator()(const Statistics& op)
    {
        const auto channels = static_cast<std::size_t>(op.source.channels);
        for (std::size_t c = 0; c < channels; ++c) put_scaling(op, c, find(op, c, op.epsilon));
    }

    void operator()(const Covariance& op) { run_moments(op, memory_); }
    void operator()(const MomentGradient& op) { run_moments(op, memory_); }
    void operator()(const MomentOffset& op) { run_moments(op, memory_); }
    void operator()(const MomentStatistics& op)
    {
        const std::vector<Moments> found = run_moments(op, memory_);
        for (std::size_t c = 0; c < found.size(); ++c)
            put_scaling(op, c, finish(op, c, found[c], static_cast<double>(op.rows), op.epsilon));
    }

    void operator()(const LibraryNorm& op)
    {
        const Values source(memory_, op.source);
        const Values weight(memory_, op.weight);
        const Values bias(memory_, op.bias);
        Values result(memory_, op.result);
        const auto channels = static_cast<std::size_t>(op.source.channels);
        for (std::size_t c = 0; c < channels; ++c) {
            const auto [mean, inverse] = find(op, c, op.shape.epsilon);
            for (std::size_t k = c; k < op.source.elements(); k += channels) {
                const float value = (source[k] - mean) * inverse * weight[c] + bias[c];
                result.put(k, op.shape.relu ? relu_of(value) : value);
            }
        }
    }

    void operator()(const LibraryNormGradient& op)
    {
        (*this)(ReduceGradient{.share = op.gradient,
                               .output = op.output,
                               .source = op.source,
                               .channels = op.channels,
                               .sum = op.sum,
                               .sum_of_products = op.sum_of_products});
        (*this)(NormGradient{.gradient = op.gradient,
                             .output = op.output,
                             .source = op.source,
                             .weight = op.weight,
                             .channels = op.channels,
                             .sum = op.sum,
                             .sum_of_products = op.sum_of_products,
                             .result = op.result});
    }

    void operator()(const Normalise& op)
    {
        const Values source(memory_, op.source);
        const Values scale(memory_, op.scale);
        const Values shift(memory_, op.shift);
        const Values other(memory_, op.other);
        const Values other_scale(memory_, op.other_scale);
        const Values other_shift(memory_, op.other_shift);
        Values result(memory_, op.result);
        const auto channels = static_cast<std::size_t>(op.source.channels);
        for (std::size_t k = 0; k < op.source.elements(); ++k) {
            const std::size_t c = k % channels;
            float sum = scale ? scaled(source[k], scale[c], shift[c]) : source[k];
            if (other) sum += other_scale ? scaled(other[k], other_scale[c], other_shift[c]) : other[k];
            result.put(k, op.relu ? relu_of(sum) : sum);
        }
        if (!op.signs) return;
        auto* const signs = memory_.at<std::uint8_t>(op.signs);
        std::fill_n(signs, op.signs.elements(), std::uint8_t{0});
        for (std::size_t k = 0; k < op.result.elements(); ++k) {
            const unsigned bit = result[k] > 0 ? 1U << k % signs_per_byte : 0;
            signs[k / signs_per_byte] = static_cast<std::uint8_t>(signs[k / signs_per_byte] | bit);
        }
    }

    void operator()(const ReduceGradient& op)
    {
        const Tensor& summed = op.winners ? op.source : op.share;
        const std::vector<float> pooled = pooled_gradient(op, op.share);
        const auto channels = static_cast<std::size_t>(summed.channels);
        std::vector<double> first(channels);
        std::vector<double> second(channels);
        std::vector<double> third(channels);
        const auto product = [&](const auto& norm, std::size_t k) {
            const std::size_t c = k % channels;
            return (Values(memory_, norm.source)[k] - Values(memory_, norm.channels.mean)[c]) *
                   Values(memory_, norm.channels.inverse_deviation)[c];
        };
        Values written(memory_, op.result);
        for (std::size_t k = 0; k < summed.elements(); ++k) {
            const std::size_t c = k % channels;
            float g = op.winners ? pooled[k] : gradient(op.share, op.other_share, op.output, k);
            if (op.signs && !has_sign(op.signs, k)) g = 0;
            if (op.relu) g = masked(g, normalised(op.source, op.channels, k));
            if (written) written.put(k, g);
            const float added = written ? written[k] : g;
            first[c] += added;
            if (op.source) second[c] += added * product(op, k);
            if (op.other_norm.source) third[c] += added * product(op.other_norm, k);
        }
        for (std::size_t c = 0; c < channels; ++c) {
            Values(memory_, op.sum).put(c, static_cast<float>(first[c]));
            if (op.source) Values(memory_, op.sum_of_products).put(c, static_cast<float>(second[c]));
            if (op.other_norm.sum) Values(memory_, op.other_norm.sum).put(c, static_cast<float>(first[c]));
            if (op.other_norm.source)
                Values(memory_, op.other_norm.sum_of_products).put(c, static_cast<float>(third[c]));
        }
    }

    void operator()(const NormGradient& op)
    {
        const std::vector<float> pooled = pooled_gradient(op, op.gradient);
        std::vector<float> all(op.source.elements());
        for (std::size_t k = 0; k < all.size(); ++k) {
            all[k] = op.winners ? pooled[k] : gradient(op.gradient, {}, op.output, k);
            if (op.relu) all[k] = masked(all[k], normalised(op.source, op.channels, k));
        }
        spread(op, all);
        if (op.other_norm.source) spread(op.other_norm, all);
    }

    void operator()(const MaskGradient& op)
    {
        Values result(memory_, op.result);
        for (std::size_t k = 0; k < op.result.elements(); ++k)
            result.put(k, gradient(op.share, op.other_share, op.output, k));
    }

    void operator()(const MaxPool& op)
    {
        dispatch(op.source.precision, [&](auto element) {
            using Element = decltype(element);
            Values result(memory_, op.result);
            auto* const winners = memory_.at<std::uint8_t>(op.winners);
            const PoolShape pool = shape_of(op.source, op.result, op.window);
            std::vector<Element> source(op.source.elements());
            for (std::size_t k = 0; k < source.size(); ++k) {
                const float value = Values(memory_, op.source)[k];
                source[k] = narrow<Element>(
                    op.scale ? relu_of(normalised(op.source, {.scale = op.scale, .shift = op.shift}, k)) : value);
            }
            for_places(op.result, [&](std::size_t k, std::size_t n, int y, int x, int c) {
                const Winner best = max_of(pool, source.data(), n, y, x, c);
                result.put(k, best.value);
                winners[k] = best.place;
            });
        });
    }

    void operator()(const MaxPoolGradient& op)
    {
        dispatch(op.source.precision, [&](auto element) {
            using Element = decltype(element);
            Values source(memory_, op.source);
            const PoolShape pool = shape_of(op.source, op.result, op.window);
            for_places(op.source, [&](std::size_t k, std::size_t n, int y, int x, int c) {
                source.put(k, max_gradient(pool, memory_.at<Element>(op.result), memory_.at<std::uint8_t>(op.winners),
                                           n, y, x, c));
            });
        });
    }

    void operator()(const Dropout& op)
    {
        const Values source(memory_, op.source);
        Values result(memory_, op.result);
        const std::uint32_t stream = dropout_stream(memory_.state()->step, op.layer);
        for (std::size_t k = 0; k < op.result.elements(); ++k) {
            const bool kept = keeps(stream, op.first + k, dropout_threshold(op.probability));
            result.put(k, kept ? source[k] / (1 - op.probability) : 0);
        }
    }

    void operator()(const Loss& op)
    {
        const Values logits(memory_, op.logits);
        const auto* const labels = memory_.at<std::int32_t>(op.labels);
        Values given(memory_, op.gradient);
        const auto classes = static_cast<std::size_t>(op.classes);
        const auto stored = static_cast<std::size_t>(op.logits.channels);
        const std::size_t rows = op.logits.rows();
        double loss = 0;
        for (std::size_t n = 0; n < rows; ++n) {
            double sum = 0;
            for (std::size_t c = 0; c < classes; ++c) sum += std::exp(static_cast<double>(logits[n * stored + c]));
            for (std::size_t c = classes; given && c < stored; ++c) given.put(n * stored + c, 0);
            for (std::size_t c = 0; c < classes; ++c) {
                const double due = std::exp(static_cast<double>(logits[n * stored + c])) / sum;
                const bool is_label = static_cast<std::int32_t>(c) == labels[n];
                if (given)
                    given.put(n * stored + c, static_cast<float>((due - is_label) / static_cast<double>(rows)) *
                                                  memory_.state()->loss_scale);
                if (is_label) loss -= std::log(due);
            }
        }
        memory_.state()->loss = static_cast<float>(loss / static_cast<double>(rows));
    }

    void operator()(const Widen& op)
    {
        for (std::size_t i = 0; i < op.from.size(); ++i) {
            const Values from(memory_, op.from[i]);
            Values to(memory_, op.to[i]);
            for (std::size_t k = 0; k < op.to[i].elements(); ++k) to.put(k, from[k]);
        }
    }

    void operator()(const CheckFinite& op)
    {
        const Values gradients(memory_, op.gradients);
        for (std::size_t k = 0; k < op.gradients.elements(); ++k)
            if (!std::isfinite(gradients[k])) memory_.state()->finite = 0;
    }

    void operator()(const Descend& op)
    {
        if (op.scaled && memory_.state()->finite == 0) return;
        const Values gradients(memory_, op.gradients);
        Descent descent(op, memory_, op.squares);
        const float unscale = op.scaled ? 1 / memory_.state()->loss_scale : 1;
        for (std::size_t k = 0; k < op.values.elements(); ++k) {
            const bool is_other = std::ranges::any_of(others_, [k](const Tensor& other) {
                const std::size_t first = other.begin / sizeof(float);
                return k >= first && k < first + other.elements();
            });
            if (!is_other) descent.update(k, gradients[k] * unscale);
        }
    }

    void operator()(const DescendProduct& op)
    {
        const Values source(memory_, op.source);
        const Values gradient(memory_, op.gradient);
        Descent descent(op, memory_);
        const auto batch = static_cast<std::size_t>(op.source.batch);
        const std::size_t inputs = op.source.elements() / batch;
        const std::size_t outputs = op.gradient.elements() / batch;
        for (std::size_t k = 0; k < inputs * outputs; ++k) {
            double sum = 0;
            for (std::size_t n = 0; n < batch; ++n)
                sum += static_cast<double>(source[n * inputs + k % inputs]) *
                       static_cast<double>(gradient[n * outputs + k / inputs]);
            descent.update(k, static_cast<float>(sum));
        }
    }

    void operator()(const Advance& op)
    {
        StepState& state = *memory_.state();
        state = advanced(state, op.scaled);
    }

  private:
    /// Computes a channel's mean and 1 / deviation, which stay in memory, and its running statistics.
    template <class Norm>
    std::pair<float, float> find(const Norm& op, std::size_t c, float epsilon)
    {
        const Values source(memory_, op.source);
        const auto rows = static_cast<double>(op.source.rows());
        const float origin = source[c];
        double first = 0;
        double second = 0;
        if constexpr (requires { op.squares; }) {
            if (op.sum)
                return finish(op, c, moments_of(Values(memory_, op.sum)[c], Values(memory_, op.squares)[c], 0, rows),
                              rows, epsilon);
        }
        for (std::size_t k = c; k < op.source.elements(); k += static_cast<std::size_t>(op.source.channels)) {
            const Sums one = sums_of(source[k], origin);
            first += one.first;
            second += one.second;
        }
        return finish(op, c, moments_of(first, second, origin, rows), rows, epsilon);
    }

    /// Scale and shift of a channel, from its mean and 1 / deviation.
    template <class Norm>
    void put_scaling(const Norm& op, std::size_t c, const std::pair<float, float>& found)
    {
        const float scale = Values(memory_, op.weight)[c] * found.second;
        Values(memory_, op.channels.scale).put(c, scale);
        Values(memory_, op.channels.shift).put(c, Values(memory_, op.bias)[c] - found.first * scale);
    }

    template <class Norm>
    std::pair<float, float> finish(const Norm& op, std::size_t c, const Moments& found, double rows, float epsilon)
    {
        const float inverse = 1 / std::sqrt(found.variance + epsilon);
        Values(memory_, op.channels.mean).put(c, found.mean);
        Values(memory_, op.channels.inverse_deviation).put(c, inverse);
        update(op.running_mean, c, found.mean);
        update(op.running_variance, c, unbiased(found.variance, rows));
        return {found.mean, inverse};
    }

    template <class Norm>
    void spread(const Norm& op, const std::vector<float>& gradient) const
    {
        const Values source(memory_, op.source);
        const Values weight(memory_, op.weight);
        const Values mean(memory_, op.channels.mean);
        const Values inverse(memory_, op.channels.inverse_deviation);
        const Values sum(memory_, op.sum);
        const Values products(memory_, op.sum_of_products);
        Values result(memory_, op.result);
        const auto channels = static_cast<std::size_t>(op.source.channels);
        const float share = 1 / static_cast<float>(op.source.rows());
        for (std::size_t k = 0; k < op.source.elements(); ++k) {
            const std::size_t c = k % channels;
            const NormSlope slope = slope_of(mean[c], inverse[c], weight[c], {sum[c], products[c]}, share);
            result.put(k, norm_gradient(gradient[k], source[k], slope));
        }
    }

    void update(const Tensor& statistic, std::size_t channel, float batch) const
    {
        Values values(memory_, statistic);
        values.put(channel, running(values[channel], batch));
    }

    const std::vector<Tensor>& others_;
};

}  // namespace

void run_on_host(const Program::Stage& stage, const Memory& memory, const std::vector<Tensor>& others)
{
    Run run(memory, others);
    for (const Operation& operation : stage.operations) std::visit(run, operation);
}

}  // namespace roof::ir
