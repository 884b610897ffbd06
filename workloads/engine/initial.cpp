#include "workloads/engine/initial.hpp"

#include "workloads/model/hashed.hpp"

#include <cmath>
#include <numbers>

namespace roof::engine {
namespace {

using model::LayerKind;

constexpr std::uint32_t first_seed = 20'000;  // far from those of the hashed recipe

/// In [-0.5, 0.5).
double uniform(std::uint32_t seed, std::size_t index)
{
    return model::hashed_unit(seed, static_cast<std::uint32_t>(index));
}

/// Box and Muller's transform of two uniform numbers.
double normal(std::uint32_t seed, std::size_t index)
{
    const double radius = std::sqrt(-2 * std::log(uniform(seed, 2 * index) + 0.5 + 0x1p-25));
    return radius * std::cos(2 * std::numbers::pi * uniform(seed, 2 * index + 1));
}

template <class Draw>
void fill(std::span<float> values, std::size_t first, Draw draw)
{
#pragma omp parallel for
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(draw(first + i));
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
        fill(values, first, [=](std::size_t i) { return 2 * bound * uniform(seed, i); });
    } else if (parameter.is_bias) {
        fill(values, first, [](std::size_t) { return 0.0; });
    } else if (layer.kind == LayerKind::embedding || layer.kind == LayerKind::positions ||
               layer.kind == LayerKind::attention) {
        fill(values, first, [=](std::size_t i) { return model::embedding_deviation * normal(seed, i); });
    } else if (model::is_norm(layer.kind)) {
        fill(values, first, [](std::size_t) { return 1.0; });
    } else {
        const double fan_out = 1.0 * parameter.shape[0] * parameter.shape[2] * parameter.shape[3];
        const double deviation = std::sqrt(2 / fan_out);
        fill(values, first, [=](std::size_t i) { return deviation * normal(seed, i); });
    }
}

}  // namespace roof::engine
