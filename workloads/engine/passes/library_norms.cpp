#include "workloads/engine/passes/passes.hpp"

namespace roof::ir {
namespace {

NormShape shape_of(const Tensor& map, bool backward, bool relu, float epsilon)
{
    return {.backward = backward,
            .batch = map.batch,
            .map = {map.channels, map.height, map.width},
            .precision = map.precision,
            .relu = relu,
            .epsilon = epsilon};
}

/// A library finds no scale and no shift.
void drop_scale(auto& gradient)
{
    gradient.channels.scale = gradient.channels.shift = {};
}

/// The operation behind the place, in the same stage, if it is of this type.
template <class Op>
Op* behind(const ListPlace& place)
{
    bool is_behind = false;
    for (Entry& entry : place.stage->entries) {
        if (is_behind) return ListPlace{place.stage, &entry}.as<Op>();
        is_behind = &entry == place.entry;
    }
    return nullptr;
}

/// The library computes both operations as one.
void replace(List& list, const ListPlace& place, auto library, const Choice& choice, const void* second)
{
    library.workspace = list.program().scratch(choice.workspace);
    library.plan = choice.plan;
    *place.entry = {.operation = library, .implementation = choice.implementation, .work = place.entry->work};
    for (Entry& entry : place.stage->entries)
        entry.is_removed =
            entry.is_removed || std::visit([&](const auto& one) { return &one == second; }, entry.operation);
}

}  // namespace

void take_library_norms(List& list, const Choosers& choosers)
{
    if (!choosers.norm) return;
    const Uses uses(list);
    std::map<int, float> epsilons;  // by the mean
    for_each_of<Statistics>(list, [&](const ListPlace& place, const Statistics& own) {
        const Statistics statistics = own;
        epsilons[statistics.channels.mean.block] = statistics.epsilon;
        auto* const normalise = behind<Normalise>(place);
        if (statistics.sum || normalise == nullptr || normalise->other) return;
        const NormShape shape = shape_of(statistics.source, false, normalise->relu, statistics.epsilon);
        const Choice choice = choosers.norm(shape);
        if (choice.plan < 0) return;
        for (const ListPlace& reader : uses.readers(statistics.channels.mean)) {
            if (auto* const reduction = reader.as<ReduceGradient>()) drop_scale(*reduction);
            if (auto* const spreading = reader.as<NormGradient>()) drop_scale(*spreading);
        }
        replace(list, place,
                LibraryNorm{.shape = shape,
                            .source = statistics.source,
                            .weight = statistics.weight,
                            .bias = statistics.bias,
                            .channels = {.mean = statistics.channels.mean,
                                         .inverse_deviation = statistics.channels.inverse_deviation},
                            .running_mean = statistics.running_mean,
                            .running_variance = statistics.running_variance,
                            .result = normalise->result},
                choice, normalise);
    });
    for_each_of<ReduceGradient>(list, [&](const ListPlace& place, const ReduceGradient& own) {
        const ReduceGradient reduction = own;
        auto* const spreading = behind<NormGradient>(place);
        const bool is_whole = reduction.source && !reduction.relu && !reduction.winners && !reduction.result;
        if (!is_whole || spreading == nullptr) return;
        const float epsilon = epsilons.at(reduction.channels.mean.block);
        const NormShape shape = shape_of(reduction.source, true, static_cast<bool>(reduction.output), epsilon);
        const Choice choice = choosers.norm(shape);
        if (choice.plan < 0) return;
        replace(list, place,
                LibraryNormGradient{.shape = shape,
                                    .gradient = reduction.share,
                                    .output = reduction.output,
                                    .source = reduction.source,
                                    .weight = spreading->weight,
                                    .channels = {.mean = reduction.channels.mean,
                                                 .inverse_deviation = reduction.channels.inverse_deviation},
                                    .sum = reduction.sum,
                                    .sum_of_products = reduction.sum_of_products,
                                    .result = spreading->result},
                choice, spreading);
    });
    list.sweep();
}

void mask_again(List& list)
{
    const Uses uses(list);
    for_each_of<Normalise>(list, [&](const ListPlace&, const Normalise& norm) {
        if (norm.relu && norm.scale && !norm.other) mask_by_source(uses, norm.result);
    });
}

}  // namespace roof::ir
