#include "workloads/engine/passes/passes.hpp"

namespace roof::ir {
namespace {

/// Whether the library reads a scaled source in both passes that read it.
bool reads_scaled(ConvolutionPass shape, const Choosers& choosers)
{
    const auto is_offered = [&](Pass pass, bool statistics) {
        shape.pass = pass;
        shape.prologue = true;
        shape.statistics = statistics;
        return choosers.convolution(shape).fused;
    };
    return is_offered(Pass::backward_weights, false) &&
           (is_offered(Pass::forward, true) || is_offered(Pass::forward, false));
}

void read_scaled(Convolve& convolution, const Normalise& norm)
{
    convolution.shape.prologue = true;
    convolution.source = norm.source;
    convolution.scale = norm.scale;
    convolution.shift = norm.shift;
}

}  // namespace

void read_scaled_sources(List& list, const Choosers& choosers)
{
    const Uses uses(list);
    for_each_of<Normalise>(list, [&](const ListPlace& place, const Normalise& norm) {
        const ListPlace reader = uses.only_reader(norm.result);
        auto* const convolution = reader.as<Convolve>();
        if (!norm.relu || !norm.scale || norm.other || convolution == nullptr) return;
        if (!norm_behind(uses, reader) || !reads_scaled(convolution->shape, choosers)) return;
        mask_by_source(uses, norm.result);
        place.entry->is_removed = true;
        for (const ListPlace& each : uses.readers(norm.result))
            if (auto* const pass = each.as<Convolve>()) read_scaled(*pass, norm);
    });
    list.sweep();
}

void read_scaled_pools(List& list)
{
    const Uses uses(list);
    for_each_of<Normalise>(list, [&](const ListPlace& place, const Normalise& norm) {
        auto* const pool = uses.only_reader(norm.result).as<MaxPool>();
        if (!norm.relu || !norm.scale || norm.other || pool == nullptr) return;
        mask_by_source(uses, norm.result);
        place.entry->is_removed = true;
        pool->source = norm.source;
        pool->scale = norm.scale;
        pool->shift = norm.shift;
        for (const ListPlace& backward : uses.readers(pool->winners)) {
            const MaxPoolGradient gradient = *backward.as<MaxPoolGradient>();
            backward.entry->is_removed = true;
            for (const ListPlace& reader : uses.readers(gradient.source)) {
                if (auto* const reduction = reader.as<ReduceGradient>()) {
                    reduction->share = gradient.result;
                    reduction->winners = gradient.winners;
                    reduction->window = gradient.window;
                }
                if (auto* const spreading = reader.as<NormGradient>()) {
                    spreading->gradient = gradient.result;
                    spreading->winners = gradient.winners;
                    spreading->window = gradient.window;
                    join(*backward.stage, *reader.stage, true);
                }
            }
        }
    });
    list.sweep();
}

}  // namespace roof::ir
