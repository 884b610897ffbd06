// Rotary positions of queries and keys. The gradient of a turn is turned back.
#include "workloads/engine/layers/layers.hpp"

#include <bit>
#include <cmath>

namespace roof::ir {
namespace {

Tensor angles_of(const List& list, int first, int positions, int channels, float theta)
{
    const int half = channels / 2;
    std::vector<std::int32_t> numbers(static_cast<std::size_t>(2 * positions * half));
    for (int k = 0; k < positions * half; ++k) {
        const double angle = (first + k / half) * std::pow(static_cast<double>(theta), -2.0 * (k % half) / channels);
        numbers[static_cast<std::size_t>(k)] = std::bit_cast<std::int32_t>(static_cast<float>(std::cos(angle)));
        numbers[static_cast<std::size_t>(positions * half + k)] =
            std::bit_cast<std::int32_t>(static_cast<float>(std::sin(angle)));
    }
    const Tensor kept = list.constant(std::move(numbers));
    return {.batch = 2, .channels = half, .height = positions, .block = kept.block};
}

}  // namespace

void rope(Builder& build, const Unit& unit)
{
    const model::Layer& layer = build.layer(unit);
    const int heads = layer.heads + layer.kv_heads;
    const Tensor angles = angles_of(build.list, layer.first, layer.output.height * layer.output.width,
                                    layer.output.channels / (layer.heads + 2 * layer.kv_heads), layer.theta);
    const auto turn = [=, &build](const Tensor& from, const Tensor& to, bool back) {
        build.list.append(Turn{from, to, angles, heads, back}, "roof:rope");
        return to;
    };
    build.write_simple(
        unit, [&](const Tensor& source) { return turn(source, build.list.tensor(source), false); },
        [=, &build](const Tensor& given) { return turn(given, build.list.tensor(given), true); });
}

}  // namespace roof::ir
