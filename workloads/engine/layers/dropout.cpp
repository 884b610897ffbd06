// Dropout: a hash of step, layer and position decides, forward and backward (formulas.hpp).
#include "workloads/engine/layers/layers.hpp"

namespace roof::ir {

void dropout(Builder& build, const Unit& unit)
{
    if (build.settings.parameters == engine::Parameters::hashed) return build.pass_through(unit);
    const auto drop = [&build, probability = build.layer(unit).dropout, layer = static_cast<std::uint32_t>(unit.layer)](
                          const Tensor& from, const Tensor& to) {
        const std::size_t first = static_cast<std::size_t>(build.settings.share().rank) * from.elements();
        build.list.append(Dropout{from, to, layer, probability, static_cast<std::uint32_t>(first)}, "roof:dropout");
        return to;
    };
    build.write_simple(
        unit, [&](const Tensor& source) { return drop(source, build.list.tensor(source)); },
        [=, &build](const Tensor& given) { return drop(given, build.list.tensor(given)); });
}

}  // namespace roof::ir
