#include "workloads/engine/ir/list.hpp"

#include "workloads/model/work.hpp"

#include <utility>
#include <variant>

namespace roof::ir {
namespace {

class Lowering {
  public:
    Lowering(Program& program, const Settings& settings, const Choosers& choosers)
        : program_(program), settings_(settings), choosers_(choosers)
    {
    }

    /// Operations that no library computes.
    void add(const auto& operation, const Entry& entry) { append(operation, entry.work, entry.implementation); }

    void add(Convolve operation, const Entry& entry)
    {
        const ConvolutionPass asked = operation.shape;
        const Choice choice = choosers_.convolution(asked);
        const AddBias apart{operation.result, operation.bias, asked.relu};
        const bool is_apart = asked.pass == Pass::forward && (asked.bias || asked.relu) && !choice.fused;
        if (is_apart) {
            operation.shape.bias = operation.shape.relu = false;
            operation.bias = {};
        }
        operation.plan = choice.plan;
        operation.workspace = program_.scratch(choice.workspace);
        Work work = entry.work;
        if (work.executed.value <= 0) work.executed = executed_by(choice, asked);
        work.refetched = choice.refetched;
        ++algorithms[choice.algorithm];
        append(operation, work, choice.implementation);
        if (is_apart) append(apart, {}, "roof:bias");
    }

    void add(Multiply product, const Entry& entry)
    {
        const Tensor written = product.written();
        const AddBias apart{written, product.bias, product.relu};
        const Choice choice = choosers_.product(product_of(product));
        const bool is_fused = product.bias && choice.fused;
        if (!is_fused) {
            product.bias = {};
            product.relu = false;
        }
        product.plan = choice.plan;
        product.workspace = program_.scratch(choice.workspace);
        append(product, executed(entry.work, choice), choice.implementation);
        if (!is_fused && (apart.bias || apart.relu)) append(apart, {}, "roof:bias");
    }

    void add(Attention attention, const Entry& entry)
    {
        const Choice choice = choose(attention, false);
        attention.plan = choice.plan;
        attention.by_products = choice.by_products;
        attention.workspace = program_.scratch(choice.workspace);
        append(attention, executed(entry.work, choice), choice.implementation);
    }

    void add(AttentionGradient gradient, const Entry& entry)
    {
        const Choice choice = choose(gradient, true);
        gradient.plan = choice.plan;
        gradient.by_products = choice.by_products;
        gradient.workspace = program_.scratch(choice.workspace);
        if (choice.plan >= 0 && !choice.by_products && !settings_.deterministic) {
            gradient.to_queries = gradient.result;
            gradient.to_queries.precision = Precision::fp32;
            gradient.to_queries = program_.tensor(gradient.to_queries);
        }
        append(gradient, executed(entry.work, choice), choice.implementation);
    }

    Algorithms algorithms;

  private:
    void append(const Operation& operation, const Work& work, const std::string& implementation)
    {
        program_.add_work(work);
        program_.append(operation, implementation);
    }

    /// Multiply-adds on padding are not counted.
    static Flops executed_by(const Choice& choice, const ConvolutionPass& shape)
    {
        if (choice.winograd_tile <= 0) return choice.executed;
        return Flops{2.0 * static_cast<double>(model::winograd_multiply_adds(shape, choice.winograd_tile))};
    }

    /// No plan: our own kernels.
    Choice choose(const auto& pass, bool backward) const
    {
        const Tensor& map = pass.result;
        Choice choice;
        if (choosers_.attention && !pass.added.rows)
            choice = choosers_.attention({.backward = backward,
                                          .batch = map.batch,
                                          .positions = map.height * map.width,
                                          .heads = pass.heads,
                                          .kv_heads = pass.kv_heads,
                                          .channels = map.channels / pass.heads,
                                          .causal = pass.causal,
                                          .precision = map.precision,
                                          .ordered = backward && settings_.deterministic});
        if (choice.plan < 0) choice.implementation = "roof:attention";
        return choice;
    }
    static Work executed(Work work, const Choice& choice)
    {
        if (choice.executed.value > 0) work.executed = choice.executed;
        work.refetched = choice.refetched;
        return work;
    }

    Program& program_;
    const Settings& settings_;
    const Choosers& choosers_;
};

}  // namespace

Product product_of(const Multiply& operation)
{
    const auto batch = static_cast<std::size_t>(operation.source.batch);
    return {.pass = operation.pass,
            .batch = operation.source.batch,
            .inputs = static_cast<int>(operation.source.elements() / batch),
            .outputs = operation.result.channels,
            .precision = operation.rounded ? Precision::tf32 : operation.source.precision,
            .result_precision = operation.written().precision,
            .bias = static_cast<bool>(operation.bias),
            .relu = operation.bias && operation.relu,
            .gelu = static_cast<bool>(operation.before_gelu),
            .adds = operation.adds};
}

void List::begin(const std::string& layer, const std::string& kind, Phase phase)
{
    stages.push_back({{.layer = layer, .kind = kind, .phase = phase, .work = {}, .implementation = {}}});
}

void List::append(Operation operation, const std::string& implementation, const Work& work)
{
    stages.back().entries.push_back({std::move(operation), implementation, work});
}

void List::sweep()
{
    for (Stage& stage : stages) std::erase_if(stage.entries, [](const Entry& entry) { return entry.is_removed; });
}

Algorithms lower(const List& list, const Settings& settings, const Choosers& choosers)
{
    Lowering lowering(list.program(), settings, choosers);
    lowering.algorithms = list.algorithms;
    for (const List::Stage& stage : list.stages) {
        if (stage.entries.empty() && stage.ready.empty()) continue;
        list.program().begin(stage.part.layer, stage.part.kind, stage.part.phase);
        list.program().add_work(stage.part.work);
        for (const Entry& entry : stage.entries)
            std::visit([&](const auto& operation) { lowering.add(operation, entry); }, entry.operation);
        for (const std::size_t parameter : stage.ready) list.program().completes(parameter);
    }
    return lowering.algorithms;
}

}  // namespace roof::ir
