// Activations and their slopes as they are defined, in double: what the tests of every engine expect.
#pragma once

#include "workloads/model/graph.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace roof {

struct DefinedActivation {
    double value = 0;
    double slope = 0;
};

inline DefinedActivation defined_activation(model::LayerKind kind, double x)
{
    using enum model::LayerKind;
    const double sigmoid_of = 1 / (1 + std::exp(-x));
    const double hard = std::clamp(x / 6 + 0.5, 0.0, 1.0);
    const double hard_slope = x > -3 && x < 3 ? 1.0 / 6 : 0;
    const double pi = std::acos(-1.0);
    const double below = std::erfc(-x / std::sqrt(2.0)) / 2;
    const double by_tanh = std::tanh(std::sqrt(2 / pi) * (x + 0.044715 * x * x * x));
    switch (kind) {
        case relu6:
            return {std::clamp(x, 0.0, 6.0), x > 0 && x < 6 ? 1.0 : 0.0};
        case sigmoid:
            return {sigmoid_of, sigmoid_of * (1 - sigmoid_of)};
        case silu:
            return {x * sigmoid_of, sigmoid_of + x * sigmoid_of * (1 - sigmoid_of)};
        case hard_sigmoid:
            return {hard, hard_slope};
        case hard_swish:
            return {x * hard, hard + x * hard_slope};
        case gelu:
            return {x * below, below + x * std::exp(-x * x / 2) / std::sqrt(2 * pi)};
        case gelu_tanh:
            return {x * (1 + by_tanh) / 2, (1 + by_tanh) / 2 + x * (1 - by_tanh * by_tanh) / 2 * std::sqrt(2 / pi) *
                                                                   (1 + 3 * 0.044715 * x * x)};
        case model::LayerKind::tanh:
            return {std::tanh(x), 1 - std::tanh(x) * std::tanh(x)};
        default:
            throw std::logic_error("no activation");
    }
}

}  // namespace roof
