// Passes of positions: what is read only to be normalised, multiplied or attended to is computed where it is read.
#include "workloads/engine/passes/passes.hpp"

#include <string>

namespace roof::ir {

void add_in_norms(List& list)
{
    const Uses uses(list);
    for_each_of<Normalise>(list, [&](const ListPlace& place, const Normalise& sum) {
        const std::vector<ListPlace>& readers = uses.readers(sum.result);
        auto* const norm = readers.empty() ? nullptr : readers.front().as<LayerNorm>();
        const bool is_plain = sum.other && !sum.scale && !sum.other_scale && !sum.signs && !sum.relu;
        if (norm == nullptr || !is_plain) return;
        norm->source = sum.source;
        norm->other = sum.other;
        norm->sum = sum.result;
        readers.front().entry->implementation = "roof:layer_norm of a sum";
        place.entry->is_removed = true;
        join(*place.stage, *readers.front().stage, true);
    });
    list.sweep();
}

void activate_in_scales(List& list)
{
    const Uses uses(list);
    for_each_of<Scale>(list, [&](const ListPlace& place, Scale& scale) {
        const bool is_of_maps = scale.factor.elements() == scale.source.elements();
        for (const bool is_factor : {false, true}) {
            const Tensor& activated = is_factor ? scale.factor : scale.source;
            const std::vector<ListPlace>& users = uses.users(activated);
            const auto* const activation = users.front().as<Activate>();
            if (activation == nullptr || activation->gradient || users.size() != 2 || (is_factor && !is_of_maps))
                continue;
            if (is_factor) scale.factor = scale.source;
            scale.source = activation->source;
            scale.activation = activation->kind;
            place.entry->implementation = "roof:" + std::string(name(activation->kind)) + "+multiply";
            users.front().entry->is_removed = true;
            join(*users.front().stage, *place.stage, true);
            return;
        }
    });
    list.sweep();
}

void turn_in_attention(List& list)
{
    constexpr int vector = 8;
    const Uses uses(list);
    for_each_of<AttendCached>(list, [&](const ListPlace& place, AttendCached& attend) {
        const std::vector<ListPlace>& users = uses.users(attend.source);
        const ListPlace turning = users.front();
        const auto* const turn = turning.as<Turn>();
        if (turn == nullptr || users.size() != 2 || turn->angles.channels % vector != 0) return;
        attend.source = turn->source;
        attend.angles = turn->angles;
        place.entry->implementation = "roof:rope+attention";
        turning.entry->is_removed = true;
        join(*turning.stage, *place.stage, true);
    });
    list.sweep();
}

}  // namespace roof::ir
