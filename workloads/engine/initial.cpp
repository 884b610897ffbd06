#include "workloads/engine/initial.hpp"

#include "workloads/model/hashed.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace roof::engine {
namespace {

using model::LayerKind;

constexpr std::uint32_t first_seed = 20'000;  // far from those of the hashed recipe

/// Box and Muller's transform of two uniform numbers, times the deviation.
void fill_normal(std::span<float> values, std::size_t first, std::uint32_t seed, double deviation)
{
#pragma omp parallel for
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto index = static_cast<std::uint32_t>(2 * (first + i));
        const double radius = std::sqrt(-2 * std::log(model::hashed_unit(seed, index) + 0.5 + 0x1p-25));
        const double normal = radius * std::cos(2 * std::numbers::pi * model::hashed_unit(seed, index + 1));
        values[i] = static_cast<float>(deviation * normal);
    }
}

}  // namespace

void fill_initial(const model::Graph& graph, int k, Parameters kind, std::span<float> values, std::size_t first)
{
    if (kind == Parameters::hashed) return model::hashed_parameter(graph, k).fill(values, first);

    const model::Parameter parameter = graph.parameters().at(static_cast<std::size_t>(k));
    const model::Layer& layer = graph.layer(parameter.layer);
    const std::uint32_t seed = first_seed + static_cast<std::uint32_t>(k);
    if (layer.kind == LayerKind::linear) {
        const int features = graph.layer(parameter.layer).output.channels;
        const long long inputs = graph.layer(parameter.layer).weights(graph.input_shape(parameter.layer)) / features;
        const double bound = 1 / std::sqrt(static_cast<double>(inputs));
        model::HashedFill{.seed = seed, .scale = 2 * bound}.fill(values, first);
    } else if (parameter.is_bias) {
        std::ranges::fill(values, 0.0F);
    } else if (layer.kind == LayerKind::embedding || layer.kind == LayerKind::positions ||
               layer.kind == LayerKind::attention) {
        fill_normal(values, first, seed, model::embedding_deviation);
    } else if (model::is_norm(layer.kind)) {
        std::ranges::fill(values, 1.0F);
    } else {
        const double fan_out = 1.0 * parameter.shape[0] * parameter.shape[2] * parameter.shape[3];
        fill_normal(values, first, seed, std::sqrt(2 / fan_out));
    }
}

}  // namespace roof::engine
