#include "workloads/engine/ir/program.hpp"
#include "workloads/engine/passes/passes.hpp"

#include <map>
#include <variant>
#include <vector>

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

namespace {

/// The result of an operation, and the gradients over which its kernels can write it.
struct Overwriting {
    Tensor result{};
    std::vector<Tensor> gradients{};
};

struct OverwritingOf {
    Overwriting operator()(const Loss& a) const { return {a.gradient, {a.logits}}; }
    Overwriting operator()(const MaskGradient& a) const { return {a.result, {a.share, a.other_share}}; }
    Overwriting operator()(const ReduceGradient& a) const { return {a.result, {a.share, a.other_share}}; }
    Overwriting operator()(const NormGradient& a) const
    {
        return a.winners ? Overwriting{} : Overwriting{a.result, {a.gradient}};
    }
    Overwriting operator()(const LayerNormGradient& a) const { return {a.result, {a.gradient}}; }
    Overwriting operator()(const Activate& a) const { return {a.result, {a.gradient}}; }
    Overwriting operator()(const Dropout& a) const { return {a.result, {a.source}}; }
    Overwriting operator()(const Turn& a) const { return {a.result, {a.source}}; }
    Overwriting operator()(const ScaleGradient& a) const { return {a.to_source, {a.gradient}}; }
    Overwriting operator()(const auto& /*other*/) const { return {}; }
};

}  // namespace

void write_in_place(List& list)
{
    Program& program = list.program();
    std::map<int, const Entry*> last;  // operation that uses a block
    for (const List::Stage& stage : list.stages) {
        for (const Entry& entry : stage.entries) {
            for (const Operand& operand : operands_of(entry.operation, program.state(), 0))
                last[operand.tensor.block] = &entry;
        }
    }
    for (const List::Stage& stage : list.stages) {
        for (const Entry& entry : stage.entries) {
            if (stage.part.phase != Phase::backward && !std::holds_alternative<Loss>(entry.operation)) continue;
            const auto [result, gradients] = std::visit(OverwritingOf{}, entry.operation);
            for (const Tensor& gradient : gradients) {
                const int place = program.place_of(gradient.block);
                const bool is_free = result && gradient && last[place] == &entry && !program.is_kept(gradient) &&
                                     gradient.bytes() == result.bytes();
                if (!is_free) continue;
                program.write_over(result, gradient);
                last[place] = last[result.block];
                break;
            }
        }
    }
}

}  // namespace roof::ir
