#include "workloads/engine/passes/passes.hpp"

namespace roof::ir {

void run_passes(List& list, const Settings& settings, const Choosers& choosers)
{
    if (!choosers.whole_norms) {
        read_scaled_sources(list, choosers);
        read_scaled_pools(list);
        take_moments(list, choosers);
        sum_for_statistics(list, choosers);
    }
    normalise_in_sums(list, choosers.whole_norms);
    reduce_with_mask(list);
    if (!choosers.whole_norms) keep_signs(list);
    reduce_pairs(list, !choosers.whole_norms);
    spread_pairs(list);
    if (choosers.whole_norms) join_sums(list);
    take_library_norms(list, choosers);
    mask_again(list);
    if (choosers.updates_from_factors) update_from_factors(list, settings);
    if (choosers.whole_gradients) {
        take_whole_gradients(list);
    } else {
        sum_in_products(list, choosers);
        activate_in_products(list, choosers);
        if (settings.narrow()) narrow_gradients(list, settings);
    }
    if (choosers.fuses_positions) {
        add_in_norms(list);
        activate_in_scales(list);
        turn_in_attention(list);
    }
    if (choosers.narrow_logits) narrow_logits(list);
    write_in_place(list);
}

}  // namespace roof::ir
