// The arithmetic of the operations per value: constexpr, for GPU kernels and plain loops, in fp32 whatever the storage.
#pragma once

#include "workloads/engine/ir/operations.hpp"
#include "workloads/engine/recipe.hpp"
#include "workloads/model/hashed.hpp"

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace roof::ir {

template <class Element>
constexpr float widen(Element value)
{
    return static_cast<float>(value);
}

template <class Element>
constexpr Element narrow(float value)
{
    return Element(value);
}

constexpr float relu_of(float value)
{
    return value > 0 ? value : 0;
}

/// Returns the gradient before a ReLU with this output.
constexpr float masked(float gradient, float output)
{
    return output > 0 ? gradient : 0;
}

constexpr float scaled(float value, float scale, float shift)
{
    return value * scale + shift;
}

/// Sums over the values of one channel minus `origin`. Subtracting `origin` preserves precision when the mean is large.
struct Sums {
    float first = 0;   ///< sum of values
    float second = 0;  ///< sum of squares, or of products for a gradient

    constexpr void add(const Sums& other)
    {
        first += other.first;
        second += other.second;
    }
};

constexpr Sums sums_of(float value, float origin)
{
    const float away = value - origin;
    return {away, away * away};
}

struct Moments {
    float mean = 0;
    float variance = 0;  ///< biased
};

constexpr Moments moments_of(double first, double second, float origin, double count)
{
    const double away = first / count;
    const double variance = second / count - away * away;
    return {static_cast<float>(origin + away), static_cast<float>(variance > 0 ? variance : 0)};
}

/// Returns a running statistic updated with this batch's value.
constexpr float running(float before, float batch)
{
    return (1 - engine::batch_norm_momentum) * before + engine::batch_norm_momentum * batch;
}

/// Converts a biased variance over `count` values.
constexpr float unbiased(float variance, double count)
{
    return static_cast<float>(static_cast<double>(variance) * (count / (count - 1)));
}

/// The gradient of a batch norm's source in one channel: dx = of_gradient * g + of_value * x + constant.
struct NormSlope {
    float of_gradient = 0;
    float of_value = 0;
    float constant = 0;
};

/// From y = w * (x - mean) * inverse + b:  dx = w * inverse * (g - sum g / n - xhat * sum (g * xhat) / n). `share`: 1 /
/// n.
constexpr NormSlope slope_of(float mean, float inverse, float weight, const Sums& sums, float share)
{
    const float factor = weight * inverse;
    const float product = inverse * (sums.second * share);
    return {factor, -factor * product, factor * (mean * product - sums.first * share)};
}

constexpr float norm_gradient(float gradient, float value, const NormSlope& slope)
{
    return slope.of_gradient * gradient + (slope.of_value * value + slope.constant);
}

/// Covariance of two columns from the sum of their products and their sums.
constexpr double covariance_of(double products, double first, double second, double rows)
{
    return products / rows - first / rows * (second / rows);
}

/// Returns the power of two whose product with the value is from 1 to 2; 1 where there is none.
constexpr float power_to_one(float value)
{
    constexpr std::uint32_t mantissa = 23;
    constexpr std::uint32_t twice_bias = 254;
    const std::uint32_t exponent = std::bit_cast<std::uint32_t>(value) >> mantissa;  // of a positive value
    if (exponent == 0 || exponent >= twice_bias) return 1;
    return std::bit_cast<float>((twice_bias - exponent) << mantissa);
}

/// What a batch norm's gradients are made of in one channel, see passes.hpp. From the sum over the gradient times y
/// minus its mean, and the sum of the gradient.
struct MomentSlope {
    float of_product = 0;  ///< dW = of_product * (P - of_spread * (W C))
    float of_spread = 0;
    float of_weights = 0;  ///< slopes = of_weights * W
    float share = 0;
};

constexpr MomentSlope moment_slope_of(float inverse, float weight, float product, float sum, float share)
{
    const float factor = weight * inverse;
    const float spread = inverse * inverse * product;
    return {factor, spread, -factor * (spread * share), factor * (sum * share)};
}

constexpr bool keeps(std::uint32_t stream, std::size_t place, std::uint32_t threshold)
{
    return model::mix(model::mix(static_cast<std::uint32_t>(place)) + stream) >= threshold;
}

/// Returns the random stream of one layer in one step.
constexpr std::uint32_t dropout_stream(std::uint32_t step, std::uint32_t layer)
{
    return model::mix(model::mix(engine::dropout_seed + step) + layer);
}

constexpr std::uint32_t dropout_threshold(float probability)
{
    return static_cast<std::uint32_t>(static_cast<double>(probability) * 4294967296.0);
}

struct Descended {
    float value = 0;
    float momentum = 0;
};

/// g += decay * p;   m = momentum * m + g;   p -= rate * m
constexpr Descended descend(float value, float gradient, float momentum, float rate)
{
    const float next = engine::momentum * momentum + (gradient + engine::weight_decay * value);
    return {value - rate * next, next};
}

/// AdamW as PyTorch has it, from the averages of the gradient and of its square:
///   p -= rate * decay * p;   m = beta1 * m + (1 - beta1) * g;   v = beta2 * v + (1 - beta2) * g^2
///   p -= rate * (m / share of m) / (sqrt(v / share of v) + epsilon)
struct Adapted {
    float value = 0;
    float mean = 0;
    float square = 0;
};

[[gnu::always_inline]] constexpr Adapted adapt(const Adapted& now, float gradient, const engine::AdamShares& shares,
                                               float rate)
{
    constexpr auto of_mean = static_cast<float>(1 - engine::adam_beta1);
    constexpr auto of_square = static_cast<float>(1 - engine::adam_beta2);
    const float mean = static_cast<float>(engine::adam_beta1) * now.mean + of_mean * gradient;
    const float square = static_cast<float>(engine::adam_beta2) * now.square + of_square * gradient * gradient;
    const float root = std::sqrt(square) * (1 / std::sqrt(shares.square)) + engine::adam_epsilon;
    return {now.value * (1 - rate * engine::adam_weight_decay) - rate / shares.mean * (mean / root), mean, square};
}

/// Loss scaling as in PyTorch: halved after a gradient that is not finite, doubled after enough finite updates.
struct LossScale {
    float scale = 1;
    std::uint32_t good = 0;
};
inline constexpr float first_loss_scale = 65536;
inline constexpr std::uint32_t updates_before_doubling = 2000;

constexpr LossScale next_scale(const LossScale& now, bool finite)
{
    if (!finite) return {now.scale / 2, 0};
    if (now.good + 1 == updates_before_doubling) return {now.scale * 2, 0};
    return {now.scale, now.good + 1};
}

/// Returns the state for the next step.
constexpr StepState advanced(StepState state, bool is_scaled)
{
    const bool finite = state.finite != 0;
    if (is_scaled) {
        const LossScale next = next_scale({state.loss_scale, state.good}, finite);
        state.loss_scale = next.scale;
        state.good = next.good;
        state.skipped += finite ? 0 : 1;
    }
    if (finite) state.adam = after_update(state.adam);
    state.finite = 1;
    ++state.step;
    return state;
}

/// Sizes of a pooling over maps of `channels` channels.
struct PoolShape {
    int channels, height, width;  ///< of the source
    int result_height, result_width;
    int size, stride, padding;
};

/// The first of equal values is the largest; a NaN is larger than any.
constexpr bool is_larger(float value, float best)
{
    return value > best || value != value;
}

/// Returns the index in images [n][c][y][x] of value k of channels-last maps.
constexpr std::size_t planar_place(std::size_t k, std::size_t channels, std::size_t map)
{
    const std::size_t channel = k % channels;
    const std::size_t place = k / channels % map;
    const std::size_t image = k / channels / map;
    return (image * channels + channel) * map + place;
}

}  // namespace roof::ir
