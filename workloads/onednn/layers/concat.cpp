// Concatenation: the channels of several maps in one map. Each map is copied to its part; the gradient's parts are copied
// back.
#include "workloads/onednn/layers/layers.hpp"

#include <algorithm>

namespace roof::onednn {

void concat(Builder& build, const Unit& unit)
{
    const std::vector<int> inputs = build.layer(unit).inputs;
    std::vector<Dim> begins;  // the first channel of each input
    for (Dim next = 0; const int input : inputs) {
        begins.push_back(next);
        next += build.map(input)[1];
    }
    // A part of a blocked layout begins at a whole block.
    constexpr Dim block = 16;
    const bool blocked = std::ranges::all_of(begins, [](Dim begin) { return begin % block == 0; });
    const auto format = blocked ? dnnl::memory::format_tag::nChw16c : dnnl::memory::format_tag::nchw;
    begin_with_work(build, unit, Phase::forward);
    const Tensor y = build.program.tensor(in_format(build.map(unit.layer), format, build.settings.precision));
    for (std::size_t k = 0; k < inputs.size(); ++k) {
        const Tensor part = build.program.part(y, build.map(inputs[k]), {0, begins[k], 0, 0});
        build.program.reorder(build.outputs[static_cast<std::size_t>(inputs[k])], part);
    }
    build.put(unit, y);
    build.tape.emplace_back([=, &build] {
        begin_with_work(build, unit, Phase::backward);
        const Tensor given = build.gradient(unit.layer).tensor;
        for (std::size_t k = 0; k < inputs.size(); ++k) {
            const Tensor share = build.program.tensor(build.outputs[static_cast<std::size_t>(inputs[k])].desc());
            build.program.reorder(build.program.part(given, build.map(inputs[k]), {0, begins[k], 0, 0}), share);
            build.give(inputs[k], {share});
        }
    });
}

}  // namespace roof::onednn
