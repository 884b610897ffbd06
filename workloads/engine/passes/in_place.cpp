#include "workloads/engine/ir/operands.hpp"
#include "workloads/engine/passes/passes.hpp"

#include <map>
#include <variant>
#include <vector>

namespace roof::ir {
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
