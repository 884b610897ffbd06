// Activations y = f(x) with limits or with an exponential, and their slopes f'(x), for every engine:
//   ReLU6 min(max(x, 0), 6)                 1 where 0 < x < 6, else 0
//   sigmoid s(x) = 1 / (1 + e^-x)           s (1 - s)
//   SiLU x s(x)                             s + x s (1 - s)
//   hard sigmoid h(x) = relu6(x + 3) / 6    1/6 where -3 < x < 3, else 0
//   hard swish x h(x)                       0 below -3, 1 above 3, else x / 3 + 1/2, as PyTorch has it
#pragma once

#include "workloads/model/graph.hpp"

#include <bit>
#include <cstdint>

namespace roof::engine {

using model::LayerKind;

/// e^x to two units in the last place (Cephes' expf): 2^n e^r, |r| <= ln(2) / 2. Branchless, so that loops become vectors.
[[gnu::always_inline]] constexpr float exponential(float x)
{
    constexpr float most = 88, rounding = 12582912;  // 1.5 * 2^23
    x = x < most ? x : most;
    x = x > -most ? x : -most;
    const float n = (x * 1.44269504F + rounding) - rounding;
    const float r = (x - n * 0.693359375F) + n * 2.12194440e-4F;
    float sum = 1.9875691500e-4F * r + 1.3981999507e-3F;
    sum = sum * r + 8.3334519073e-3F;
    sum = sum * r + 4.1665795894e-2F;
    sum = sum * r + 1.6666665459e-1F;
    sum = sum * r + 5.0000001201e-1F;
    const float power = std::bit_cast<float>((static_cast<std::int32_t>(n) + 127) << 23);
    return (sum * r * r + r + 1) * power;
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

template <LayerKind kind>
[[gnu::always_inline]] constexpr float activated(float x)
{
    if constexpr (kind == LayerKind::relu6) return x > 0 ? (x < 6 ? x : 6) : 0;
    if constexpr (kind == LayerKind::sigmoid) return sigmoid_of(x);
    if constexpr (kind == LayerKind::silu) return x * sigmoid_of(x);
    if constexpr (kind == LayerKind::hard_sigmoid) return hard_sigmoid_of(x);
    return x * hard_sigmoid_of(x);
}

template <LayerKind kind>
[[gnu::always_inline]] constexpr float activation_slope(float x)
{
    if constexpr (kind == LayerKind::relu6) return x > 0 && x < 6 ? 1.0F : 0.0F;
    if constexpr (kind == LayerKind::sigmoid || kind == LayerKind::silu) {
        const float s = sigmoid_of(x);
        return kind == LayerKind::sigmoid ? s * (1 - s) : s * (1 + x * (1 - s));
    }
    const bool inside = x > -3 && x < 3;
    if constexpr (kind == LayerKind::hard_sigmoid) return inside ? 1.0F / 6 : 0;
    return inside ? x * (1.0F / 3) + 0.5F : (x > 0 ? 1.0F : 0.0F);
}

/// Calls call<kind>().
template <class Call>
constexpr void with_activation(LayerKind kind, const Call& call)
{
    if (kind == LayerKind::relu6) return call.template operator()<LayerKind::relu6>();
    if (kind == LayerKind::sigmoid) return call.template operator()<LayerKind::sigmoid>();
    if (kind == LayerKind::silu) return call.template operator()<LayerKind::silu>();
    if (kind == LayerKind::hard_sigmoid) return call.template operator()<LayerKind::hard_sigmoid>();
    call.template operator()<LayerKind::hard_swish>();
}

}  // namespace roof::engine
