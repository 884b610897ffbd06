// Dropout:  y = x / (1 - p) with probability 1 - p, else 0;  dx likewise from dy, with the same decisions.
// A decision is a hash of seed, step, layer and position. The backward pass recomputes it.
#include "workloads/engine/ir/formulas.hpp"
#include "workloads/kernels/parallel.hpp"
#include "workloads/onednn/operations/binding.hpp"

namespace roof::onednn {
namespace {

struct Rule {
    std::uint32_t stream;
    std::uint32_t threshold;
    std::uint32_t first;  ///< position of the first number in the batch of all ranks
    float scale;
};

template <class Element>
[[gnu::always_inline]] inline void drop_all(Element* to, const Element* from, const Rule& rule, std::size_t begin,
                                            std::size_t end)
{
#pragma omp simd
    for (std::size_t i = begin; i < end; ++i) {
        const bool kept = ir::keeps(rule.stream, static_cast<std::uint32_t>(i) + rule.first, rule.threshold);
        const float scaled = widen(from[i]) * rule.scale;  // of a dropped number too, so that the loop has no branch
        narrow(kept ? scaled : 0.0F, to[i]);
    }
}

[[gnu::target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")]] void drop(const Elements& to,
                                                                                const Elements& from, const Rule& rule,
                                                                                std::size_t begin, std::size_t end)
{
    if (to.precision == Precision::bf16)
        drop_all(to.as<BFloat16>(), from.as<BFloat16>(), rule, begin, end);
    else
        drop_all(to.as<float>(), from.as<float>(), rule, begin, end);
}

}  // namespace

void append_dropout(Program& program, const StepState& state, const ir::Dropout& dropout, const Tensor& from,
                    const Tensor& to)
{
    const std::uint32_t threshold = ir::dropout_threshold(dropout.probability);
    const auto scale = static_cast<float>(1 / (1 - static_cast<double>(dropout.probability)));
    program.append(
        [=, &state, layer = dropout.layer, first = dropout.first] {
            const std::uint32_t stream = ir::dropout_stream(state.step, layer);
            for_ranges(to.stored(), [=, out = to.elements(), in = from.elements()](auto begin, auto end) {
                drop(out, in, {stream, threshold, first, scale}, begin, end);
            });
        },
        {from, to}, "roof:dropout");
}

void bind(Binding& to, const ir::Dropout& operation)
{
    const Tensor from = to.read(operation.source);
    ir::Dropout stored = operation;  // a layout may store more numbers than the map has
    const std::size_t rank = operation.first / operation.source.elements();
    stored.first = static_cast<std::uint32_t>(rank * from.stored());
    append_dropout(to.program, to.state, stored, from, to.write(operation.result, from.desc()));
}

}  // namespace roof::onednn
