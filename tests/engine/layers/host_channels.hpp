// The host's loops of operations that go channel by channel: average pools, activations, layer norms, copies of
// channels and products of maps.
#pragma once

#include "tests/engine/layers/host_attention.hpp"
#include "tests/engine/layers/host_loops.hpp"
#include "workloads/engine/activations.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace roof::ir {

class HostChannels : protected HostLoops {
  public:
    explicit HostChannels(const Memory& memory) : HostLoops(memory) {}

    void operator()(const AveragePool& op)
    {
        const Values source(memory_, op.source);
        Values result(memory_, op.result);
        std::vector<float> sums(op.result.elements());
        for_windows(op, [&](std::size_t from, std::size_t to) { sums[to] += source[from]; });
        const auto count = static_cast<float>(op.window.size * op.window.size);
        for (std::size_t k = 0; k < sums.size(); ++k) result.put(k, sums[k] / count);
    }

    void operator()(const AveragePoolGradient& op)
    {
        Values source(memory_, op.source);
        const Values result(memory_, op.result);
        std::vector<float> sums(op.source.elements());
        for_windows(op, [&](std::size_t from, std::size_t to) { sums[from] += result[to]; });
        const auto count = static_cast<float>(op.window.size * op.window.size);
        for (std::size_t k = 0; k < sums.size(); ++k) source.put(k, sums[k] / count);
    }

    void operator()(const Resize& op)
    {
        const Values source(memory_, op.source);
        Values result(memory_, op.result);
        std::vector<float> sums(op.result.elements());
        for_neighbours(op, [&](std::size_t from, std::size_t to, float share) { sums[to] += share * source[from]; });
        for (std::size_t k = 0; k < sums.size(); ++k) result.put(k, sums[k]);
    }

    void operator()(const ResizeGradient& op)
    {
        Values source(memory_, op.source);
        const Values result(memory_, op.result);
        std::vector<float> sums(op.source.elements());
        for_neighbours(op, [&](std::size_t from, std::size_t to, float share) { sums[from] += share * result[to]; });
        for (std::size_t k = 0; k < sums.size(); ++k) source.put(k, sums[k]);
    }

    void operator()(const Activate& op)
    {
        const Values source(memory_, op.source);
        const Values gradient(memory_, op.gradient);
        Values result(memory_, op.result);
        engine::with_activation(op.kind, [&]<model::LayerKind kind>() {
            for (std::size_t k = 0; k < op.result.elements(); ++k)
                result.put(k, gradient ? gradient[k] * engine::activation_slope<kind>(source[k])
                                       : engine::activated<kind>(source[k]));
        });
    }

    void operator()(const Embed& op)
    {
        const Values tokens(memory_, op.tokens), weights(memory_, op.weights);
        Values result(memory_, op.result);
        const auto channels = static_cast<std::size_t>(op.result.channels);
        for (std::size_t k = 0; k < op.result.elements(); ++k)
            result.put(k, weights[static_cast<std::size_t>(tokens[k / channels]) * channels + k % channels]);
    }

    void operator()(const EmbedGradient& op)
    {
        const Values tokens(memory_, op.tokens), gradient(memory_, op.gradient);
        Values weights(memory_, op.weights);
        const auto channels = static_cast<std::size_t>(op.gradient.channels);
        for (std::size_t k = 0; !op.adds && k < op.weights.elements(); ++k) weights.put(k, 0);
        for (std::size_t k = 0; k < op.gradient.elements(); ++k) {
            const std::size_t to = static_cast<std::size_t>(tokens[k / channels]) * channels + k % channels;
            weights.put(to, weights[to] + gradient[k]);
        }
    }

    void operator()(const AddPositions& op)
    {
        const Values source(memory_, op.source), weights(memory_, op.weights);
        Values result(memory_, op.result);
        const std::size_t of_image = op.result.elements() / static_cast<std::size_t>(op.result.batch);
        for (std::size_t k = 0; k < op.result.elements(); ++k) {
            const std::size_t at = static_cast<std::size_t>(op.first * op.result.channels) + k % of_image;
            result.put(k, source[k] + (at < op.weights.elements() ? weights[at] : 0));
        }
    }

    void operator()(const TakePositions& op)
    {
        const Values source(memory_, op.source);
        Values result(memory_, op.result);
        if (op.order) {
            const auto* const order = memory_.at<std::int32_t>(op.order);
            const auto channels = static_cast<std::size_t>(op.piece());
            const std::size_t places = op.source.elements() / channels / static_cast<std::size_t>(op.source.batch);
            for (std::size_t k = 0; k < op.result.elements(); ++k) {
                const std::size_t place = k / channels, n = place / places;
                const auto from = static_cast<std::size_t>(order[place % places]);
                result.put(k, source[(n * places + from) * channels + k % channels]);
            }
            return;
        }
        for_places(op.result, [&](std::size_t k, std::size_t n, int y, int x, int c) {
            const int from = y * op.result.width + x + op.first;
            const int there = op.source.height * op.source.width;
            const std::size_t place = (n * static_cast<std::size_t>(there) + static_cast<std::size_t>(from)) *
                                      static_cast<std::size_t>(op.source.channels);
            result.put(k, from < 0 || from >= there ? 0 : source[place + static_cast<std::size_t>(c)]);
        });
    }

    void operator()(const AddPositionsGradient& op)
    {
        const Values gradient(memory_, op.gradient);
        Values weights(memory_, op.weights);
        const std::size_t of_image = op.gradient.elements() / static_cast<std::size_t>(op.gradient.batch);
        for (std::size_t k = 0; k < op.weights.elements(); ++k) {
            double sum = 0;
            for (std::size_t i = k; k < of_image && i < op.gradient.elements(); i += of_image)
                sum += static_cast<double>(gradient[i]);
            weights.put(k, static_cast<float>(sum));
        }
    }

    void operator()(const AttendCached& op) { run_on_host(memory_, op); }
    void operator()(const Attention& op) { run_on_host(memory_, op); }
    void operator()(const AttentionGradient& op) { run_on_host(memory_, op); }

    void operator()(const LayerNorm& op)
    {
        if (op.other) {
            const Values one(memory_, op.source), other(memory_, op.other);
            Values sum(memory_, op.sum);
            for (std::size_t k = 0; k < op.sum.elements(); ++k) sum.put(k, one[k] + other[k]);
        }
        const Values source(memory_, op.other ? op.sum : op.source);
        const Values weight(memory_, op.weight);
        const Values bias(memory_, op.bias);
        Values result(memory_, op.result);
        const auto channels = static_cast<std::size_t>(op.source.channels);
        for (std::size_t row = 0; row < op.source.rows(); ++row) {
            double mean = 0;
            double variance = 0;
            for (std::size_t c = 0; c < channels && op.mean; ++c)
                mean += static_cast<double>(source[row * channels + c]);
            mean /= static_cast<double>(channels);
            for (std::size_t c = 0; c < channels; ++c)
                variance += std::pow(static_cast<double>(source[row * channels + c]) - mean, 2);
            variance /= static_cast<double>(channels);
            const double inverse = 1 / std::sqrt(variance + static_cast<double>(op.epsilon));
            if (op.mean) memory_.at<float>(op.mean)[row] = static_cast<float>(mean);
            memory_.at<float>(op.inverse_deviation)[row] = static_cast<float>(inverse);
            for (std::size_t c = 0; c < channels; ++c) {
                const double normalised = (static_cast<double>(source[row * channels + c]) - mean) * inverse;
                result.put(row * channels + c, static_cast<float>(normalised) * weight[c] + (bias ? bias[c] : 0));
            }
        }
    }

    void operator()(const LayerNormGradient& op)
    {
        const Values gradient(memory_, op.gradient);
        const Values source(memory_, op.source);
        const Values weight(memory_, op.weight);
        Values result(memory_, op.result);
        const auto channels = static_cast<std::size_t>(op.source.channels);
        std::vector<double> sums(channels);
        std::vector<double> products(channels);
        for (std::size_t row = 0; row < op.source.rows(); ++row) {
            const double mean = op.mean ? static_cast<double>(memory_.at<float>(op.mean)[row]) : 0;
            const auto inverse = static_cast<double>(memory_.at<float>(op.inverse_deviation)[row]);
            std::vector<double> normalised(channels);
            std::vector<double> weighted(channels);
            double sum = 0;
            double product = 0;
            for (std::size_t c = 0; c < channels; ++c) {
                const auto given = static_cast<double>(gradient[row * channels + c]);
                normalised[c] = (static_cast<double>(source[row * channels + c]) - mean) * inverse;
                weighted[c] = given * static_cast<double>(weight[c]);
                sums[c] += given;
                products[c] += given * normalised[c];
                if (op.mean) sum += weighted[c] / static_cast<double>(channels);
                product += weighted[c] * normalised[c] / static_cast<double>(channels);
            }
            for (std::size_t c = 0; c < channels; ++c)
                result.put(row * channels + c,
                           static_cast<float>(inverse * (weighted[c] - sum - normalised[c] * product)));
        }
        for (std::size_t c = 0; c < channels; ++c) {
            if (op.sum) memory_.at<float>(op.sum)[c] = static_cast<float>(sums[c]);
            memory_.at<float>(op.sum_of_products)[c] = static_cast<float>(products[c]);
        }
    }

    void operator()(const CopyChannels& op)
    {
        const Values source(memory_, op.source);
        Values result(memory_, op.result);
        const auto* const order = memory_.at<std::int32_t>(op.order);
        for (std::size_t row = 0; row < op.result.rows(); ++row) {
            for (int c = 0; c < op.count; ++c) {
                const int at = order != nullptr ? order[c] : op.from + c;
                const bool is_there = at >= 0 && at < op.source.channels;
                const std::size_t from =
                    row * static_cast<std::size_t>(op.source.channels) + static_cast<std::size_t>(at);
                result.put(row * static_cast<std::size_t>(op.result.channels) + static_cast<std::size_t>(op.to + c),
                           is_there ? source[from] : 0);
            }
        }
    }

    void operator()(const Turn& op)
    {
        const Values source(memory_, op.source);
        Values result(memory_, op.result);
        const Values angles(memory_, op.angles);
        const auto apart = static_cast<std::size_t>(op.angles.channels);
        const auto positions = static_cast<std::size_t>(op.angles.height);
        const auto channels = static_cast<std::size_t>(op.source.channels);
        for (std::size_t row = 0; row < op.source.rows(); ++row) {
            for (std::size_t c = 0; c < channels; ++c) {
                const std::size_t at = row * channels + c, head = c / (2 * apart), within = c % (2 * apart);
                if (head >= static_cast<std::size_t>(op.heads)) result.put(at, source[at]);
                if (head >= static_cast<std::size_t>(op.heads) || within >= apart) continue;
                const std::size_t angle = row % positions * apart + within;
                const float sine = (op.back ? -1.0F : 1.0F) * angles[positions * apart + angle];
                const float x = source[at], y = source[at + apart];
                result.put(at, x * angles[angle] - y * sine);
                result.put(at + apart, y * angles[angle] + x * sine);
            }
        }
    }

    void operator()(const Scale& op)
    {
        const Values source(memory_, op.source);
        const Values factor(memory_, op.factor);
        Values result(memory_, op.result);
        const auto put = [&](const auto& value) {
            for (std::size_t k = 0; k < op.result.elements(); ++k)
                result.put(k, stored(value(source[k]), op.source.precision) * factor[place_of_factor(op, k)]);
        };
        if (!op.activation) return put([](float x) { return x; });
        engine::with_activation(*op.activation, [&]<model::LayerKind kind>() { put(engine::activated<kind>); });
    }

    void operator()(const ScaleGradient& op)
    {
        const Values gradient(memory_, op.gradient);
        const Values source(memory_, op.source);
        const Values factor(memory_, op.factor);
        Values to_source(memory_, op.to_source);
        Values to_factor(memory_, op.to_factor);
        std::vector<double> sums(op.factor.elements());
        for (std::size_t k = 0; k < op.source.elements(); ++k) {
            const std::size_t place = place_of_factor(op, k);
            sums[place] += static_cast<double>(gradient[k]) * source[k];
            to_source.put(k, gradient[k] * factor[place]);
        }
        for (std::size_t k = 0; k < sums.size(); ++k) to_factor.put(k, static_cast<float>(sums[k]));
    }

  private:
    /// Calls round(index in the source, index in the result, share) for each of the four neighbours of a result.
    template <class Change, class Round>
    static void for_neighbours(const Change& op, const Round& round)
    {
        const auto read_by = [](int place, int source, int result) {
            return std::clamp((place + 0.5) * source / result - 0.5, 0.0, source - 1.0);
        };
        for_places(op.result, [&](std::size_t k, std::size_t n, int y, int x, int c) {
            const double from_y = read_by(y, op.source.height, op.result.height);
            const double from_x = read_by(x, op.source.width, op.result.width);
            for (int near = 0; near < 4; ++near) {
                const int i = static_cast<int>(from_y) + near / 2, j = static_cast<int>(from_x) + near % 2;
                const double share = (1 - std::abs(from_y - i)) * (1 - std::abs(from_x - j));
                if (i >= op.source.height || j >= op.source.width) continue;
                const std::size_t row = n * static_cast<std::size_t>(op.source.height) + static_cast<std::size_t>(i);
                const std::size_t place = row * static_cast<std::size_t>(op.source.width) + static_cast<std::size_t>(j);
                round(place * static_cast<std::size_t>(op.source.channels) + static_cast<std::size_t>(c), k,
                      static_cast<float>(share));
            }
        });
    }

    /// Calls round(index in the source, index in the result) for each value of the map that a window reads.
    template <class Pool, class Round>
    static void for_windows(const Pool& op, const Round& round)
    {
        const PoolShape pool = shape_of(op.source, op.result, op.window);
        for_places(op.result, [&](std::size_t k, std::size_t n, int y, int x, int c) {
            for (int tap = 0; tap < pool.size * pool.size; ++tap) {
                const int from_y = y * pool.stride - pool.padding + tap / pool.size;
                const int from_x = x * pool.stride - pool.padding + tap % pool.size;
                if (from_y < 0 || from_y >= pool.height || from_x < 0 || from_x >= pool.width) continue;
                round(place_at(pool, pool.height, pool.width, n, from_y, from_x, c), k);
            }
        });
    }

    template <class Product>
    static std::size_t place_of_factor(const Product& op, std::size_t k)
    {
        if (op.factor.elements() == op.source.elements()) return k;
        const auto channels = static_cast<std::size_t>(op.source.channels);
        const std::size_t of_image = op.source.elements() / static_cast<std::size_t>(op.source.batch);
        return k / of_image * channels + k % channels;
    }
};

}  // namespace roof::ir
