// Activations y = f(x) with limits or with an exponential, and their slopes f'(x), for every engine:
//   ReLU6 min(max(x, 0), 6)                 1 where 0 < x < 6, else 0
//   sigmoid s(x) = 1 / (1 + e^-x)           s (1 - s)
//   SiLU x s(x)                             s + x s (1 - s)
//   hard sigmoid h(x) = relu6(x + 3) / 6    1/6 where -3 < x < 3, else 0
//   GELU x P(x)                             P + x p
//   GELU by tanh x s(u(x))                  s + x s (1 - s) u'
//   tanh 2 s(2x) - 1                        4 s(2x) (1 - s(2x))
//   hard swish x h(x)                       0 below -3, 1 above 3, else x / 3 + 1/2, as PyTorch has it
// p and P: density and distribution function of the normal distribution; u(x) = √(8/π) (x + 0.044715 x³), since s(u) is
// (1 + tanh(u / 2)) / 2.
#pragma once

#include "workloads/model/graph.hpp"

#include <bit>
#include <cstdint>

namespace roof::engine {

using model::LayerKind;

/// e^x of an x that is no more than 88, to two units in the last place (Cephes' expf): 2^n e^r, |r| <= ln(2) / 2.
/// Branchless, so that loops become vectors.
[[gnu::always_inline]] constexpr float exponential_to_88(float x)
{
    constexpr float least = -88, rounding = 12582912;  // 1.5 * 2^23: its last bits are those of the n that is added
    x = x < least ? least : x;
    const float rounded = x * 1.44269504F + rounding;
    const float n = rounded - rounding;
    const float r = (x - n * 0.693359375F) + n * 2.12194440e-4F;
    float sum = 1.9875691500e-4F * r + 1.3981999507e-3F;
    sum = sum * r + 8.3334519073e-3F;
    sum = sum * r + 4.1665795894e-2F;
    sum = sum * r + 1.6666665459e-1F;
    sum = sum * r + 5.0000001201e-1F;
    const float power = std::bit_cast<float>((std::bit_cast<std::uint32_t>(rounded) + 127) << 23);
    return (sum * r * r + r + 1) * power;
}

[[gnu::always_inline]] constexpr float exponential(float x)
{
    constexpr float most = 88;
    return exponential_to_88(x < most ? x : most);
}

[[gnu::always_inline]] constexpr float sigmoid_of(float x)
{
    return 1 / (1 + exponential(-x));
}

[[gnu::always_inline]] constexpr float hard_sigmoid_of(float x)
{
    const float sixth = x * (1.0F / 6) + 0.5F;
    return sixth > 0 ? (sixth < 1 ? sixth : 1) : 0;
}

struct Normal {
    float density = 0;
    float below = 0;  ///< share of the values below x: (1 + erf(x / √2)) / 2
};

/// To 8e-8: Abramowitz and Stegun, 26.2.17. Branchless, too.
[[gnu::always_inline]] constexpr Normal normal_at(float x)
{
    const float away = x < 0 ? -x : x;
    const float t = 1 / (1 + 0.2316419F * away);
    float sum = 1.330274429F * t - 1.821255978F;
    sum = sum * t + 1.781477937F;
    sum = sum * t - 0.356563782F;
    sum = sum * t + 0.319381530F;
    const float density = 0.398942280F * exponential(-0.5F * x * x);
    const float tail = density * sum * t;
    return {density, x < 0 ? tail : 1 - tail};
}

/// Of GELU by tanh: 2 √(2/π), and 0.044715 times that.
inline constexpr float tanh_slope = 1.59576912F, tanh_cubic = 0.0713548163F;

template <LayerKind kind>
[[gnu::always_inline]] constexpr float activated(float x)
{
    if constexpr (kind == LayerKind::relu6) return x > 0 ? (x < 6 ? x : 6) : 0;
    if constexpr (kind == LayerKind::sigmoid) return sigmoid_of(x);
    if constexpr (kind == LayerKind::silu) return x * sigmoid_of(x);
    if constexpr (kind == LayerKind::hard_sigmoid) return hard_sigmoid_of(x);
    if constexpr (kind == LayerKind::gelu) return x * normal_at(x).below;
    if constexpr (kind == LayerKind::gelu_tanh) return x * sigmoid_of(x * (tanh_slope + tanh_cubic * x * x));
    if constexpr (kind == LayerKind::tanh) return 2 * sigmoid_of(2 * x) - 1;
    if constexpr (kind == LayerKind::hard_swish) return x * hard_sigmoid_of(x);
}

template <LayerKind kind>
[[gnu::always_inline]] constexpr float activation_slope(float x)
{
    if constexpr (kind == LayerKind::relu6) return x > 0 && x < 6 ? 1.0F : 0.0F;
    if constexpr (kind == LayerKind::sigmoid || kind == LayerKind::silu) {
        const float s = sigmoid_of(x);
        return kind == LayerKind::sigmoid ? s * (1 - s) : s * (1 + x * (1 - s));
    }
    if constexpr (kind == LayerKind::gelu) {
        const Normal normal = normal_at(x);
        return normal.below + x * normal.density;
    }
    if constexpr (kind == LayerKind::gelu_tanh) {
        const float s = sigmoid_of(x * (tanh_slope + tanh_cubic * x * x));
        return s * (1 + x * (1 - s) * (tanh_slope + 3 * tanh_cubic * x * x));
    }
    if constexpr (kind == LayerKind::tanh) {
        const float s = sigmoid_of(2 * x);
        return 4 * s * (1 - s);
    }
    const bool inside = x > -3 && x < 3;
    if constexpr (kind == LayerKind::hard_sigmoid) return inside ? 1.0F / 6 : 0;
    return inside ? x * (1.0F / 3) + 0.5F : (x > 0 ? 1.0F : 0.0F);
}

/// Calls call<kind>() of an activation.
template <std::size_t index = 0, class Call>
[[gnu::always_inline]] constexpr void with_activation(LayerKind kind, const Call& call)
{
    constexpr LayerKind here = model::activations[index].kind;
    if (kind == here) return call.template operator()<here>();
    if constexpr (index + 1 < model::activations.size()) with_activation<index + 1>(kind, call);
}

}  // namespace roof::engine
