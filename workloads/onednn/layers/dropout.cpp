// Dropout:  y = x / (1 - p) with probability 1 - p, else 0;  dx likewise from dy, with the same decisions.
// A decision is a hash of seed, step, layer and position. The backward pass recomputes it.
#include "workloads/kernels/parallel.hpp"
#include "workloads/model/hashed.hpp"
#include "workloads/onednn/layers/layers.hpp"

namespace roof::onednn {
namespace {

using model::mix;

struct Rule {
    std::uint32_t stream;
    std::uint32_t threshold;
    std::uint32_t first;  ///< position of the first number in the batch of all ranks
    float scale;
};

/// Each rank decides for its images as a single rank would in the whole batch.
std::uint32_t first_place(const Builder& build, const Tensor& tensor)
{
    const int rank = build.settings.ranks == nullptr ? 0 : build.settings.ranks->rank;
    return static_cast<std::uint32_t>(static_cast<std::size_t>(rank) * tensor.stored());
}

template <class Element>
[[gnu::always_inline]] inline void drop_all(Element* to, const Element* from, const Rule& rule, std::size_t begin,
                                            std::size_t end)
{
#pragma omp simd
    for (std::size_t i = begin; i < end; ++i) {
        const bool kept = mix(mix(static_cast<std::uint32_t>(i) + rule.first) + rule.stream) >= rule.threshold;
        narrow(kept ? widen(from[i]) * rule.scale : 0, to[i]);
    }
}

[[gnu::target_clones("default", "avx2", "arch=x86-64-v4")]] void drop(const Elements& to, const Elements& from,
                                                                      const Rule& rule, std::size_t begin,
                                                                      std::size_t end)
{
    if (to.precision == Precision::bf16)
        drop_all(to.as<BFloat16>(), from.as<BFloat16>(), rule, begin, end);
    else
        drop_all(to.as<float>(), from.as<float>(), rule, begin, end);
}

void append_drop(Builder& build, const Unit& unit, const Tensor& from, const Tensor& to)
{
    const double probability = build.layer(unit).dropout;
    const auto threshold = static_cast<std::uint32_t>(probability * 4294967296.0);
    const auto scale = static_cast<float>(1 / (1 - probability));
    build.program.append(
        [=, &state = build.state, layer = static_cast<std::uint32_t>(unit.layer), first = first_place(build, to)] {
            const std::uint32_t stream = mix(mix(engine::dropout_seed + state.step) + layer);
            for_ranges(to.stored(), [=, out = to.elements(), in = from.elements()](auto begin, auto end) {
                drop(out, in, {stream, threshold, first, scale}, begin, end);
            });
        },
        {from, to}, "roof:dropout");
}

}  // namespace

void dropout(Builder& build, const Unit& unit)
{
    if (build.settings.parameters == Parameters::hashed) return pass_through(build, unit);
    const auto drop_into = [=, &build](const Tensor& from, const Tensor& to) {
        append_drop(build, unit, from, to);
        return to;
    };
    write_simple(
        build, unit, [&](const Tensor& x) { return drop_into(x, build.program.tensor(x.desc())); },
        [=, &build](const Gradient& given) { return Gradient{drop_into(given.tensor, build.over(given))}; });
}

}  // namespace roof::onednn
