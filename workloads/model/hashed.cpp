// The order of the arithmetic is part of the recipe: it makes the values exact.
#include "workloads/model/hashed.hpp"

#include <cmath>

namespace roof::model {
namespace {

constexpr std::uint32_t golden_ratio = 0x9E3779B9U;
constexpr std::uint32_t first_parameter_seed = 100;

/// Factors on He's scale. At full scale, networks without batch norm diverge within five steps at learning rate 0.01.
struct Damping {
    double convolution = 1;
    double linear = 1;
};

Damping damping(const Graph& graph)
{
    for (const Layer& layer : graph.layers()) {
        if (is_norm(layer.kind)) return {};
    }
    if (graph.name() == "alexnet") return {.convolution = 0.75, .linear = 0.25};
    return {.convolution = 0.85, .linear = 0.25};
}

/// Keep the order of the products: another order changes the last bit.
double weight_scale(const Graph& graph, const Parameter& parameter)
{
    const Layer& layer = graph.layer(parameter.layer);
    const long long inputs = parameter.elements() / parameter.shape.front();
    const auto fan_in = static_cast<double>(inputs);
    if (&layer == &graph.layers().back()) return 2 * std::sqrt(3 / fan_in) * 0.1;
    const Damping damp = damping(graph);
    return 2 * std::sqrt(6 / fan_in) * (layer.kind == LayerKind::convolution ? damp.convolution : damp.linear);
}

}  // namespace

double hashed_unit(std::uint32_t seed, std::uint32_t index)
{
    return (mix(mix(index) + seed * golden_ratio) >> 8) * (1.0 / 16777216.0) - 0.5;
}

void HashedFill::fill(std::span<float> values, std::size_t first) const
{
#pragma omp parallel for
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<float>(hashed_unit(seed, static_cast<std::uint32_t>(first + i)) * scale + offset);
}

HashedFill hashed_parameter(const Graph& graph, int k)
{
    const Parameter parameter = graph.parameters().at(static_cast<std::size_t>(k));
    const bool norm = is_norm(graph.layer(parameter.layer).kind);
    const std::uint32_t seed = first_parameter_seed + static_cast<std::uint32_t>(k);
    if (parameter.is_bias) return {.seed = seed, .scale = norm ? 0.2 : 0.1, .offset = 0};
    if (norm) return {.seed = seed, .scale = 0.5, .offset = 1};
    const LayerKind kind = graph.layer(parameter.layer).kind;
    if (kind == LayerKind::embedding || kind == LayerKind::positions || kind == LayerKind::attention)
        return {.seed = seed, .scale = 2 * std::sqrt(3.0) * embedding_deviation, .offset = 0};
    return {.seed = seed, .scale = weight_scale(graph, parameter), .offset = 0};
}

HashedFill hashed_input()
{
    return {.seed = 1, .scale = 2 * std::sqrt(3.0), .offset = 0};
}

HashedFill hashed_cache(int k)
{
    return {.seed = 30'000 + static_cast<std::uint32_t>(k), .scale = 2 * std::sqrt(3.0), .offset = 0};
}

int hashed_label(int n, int classes)
{
    return static_cast<int>((7 + 389LL * n) % classes);
}

int hashed_token(int n, int vocabulary)
{
    return static_cast<int>(mix(static_cast<std::uint32_t>(n)) % static_cast<std::uint32_t>(vocabulary));
}

}  // namespace roof::model
