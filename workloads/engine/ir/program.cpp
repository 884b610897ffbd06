#include "workloads/engine/ir/program.hpp"

#include <utility>
#include <variant>

namespace roof::ir {
namespace {

/// Returns "bf16 32x64x56x56".
std::string describe(const Tensor& tensor)
{
    const auto text = [](int value) { return std::to_string(value); };
    return std::string(traits(tensor.precision).name) + " " + text(tensor.batch) + "x" + text(tensor.channels) + "x" +
           text(tensor.height) + "x" + text(tensor.width);
}

using Tensors = std::vector<Tensor>;

template <class... Each>
Tensors listed(const Each&... each)
{
    return {each...};
}

/// The tensors that an operation reads or writes, twice where it does both; empty ones where it has none.
struct Operands {
    static Tensors of(const ImportImages& a) { return {a.from, a.to, a.labels_from, a.labels}; }
    static Tensors of(const ClearUnused& a) { return {a.gradient}; }
    static Tensors of(const Convolve& a)
    {
        return listed(a.source, a.weights, a.result, a.bias, a.scale, a.shift, a.sum, a.squares, a.workspace);
    }
    static Tensors of(const Multiply& a)
    {
        // Two operands may be the same tensor, which is then read once.
        const Tensor second = a.source.block == a.result.block ? Tensor{} : a.result;
        return {a.source, a.weights, second, a.bias, a.adds ? a.written() : Tensor{}, a.workspace};
    }
    static Tensors of(const AddBias& a) { return {a.values, a.values, a.bias}; }
    static Tensors of(const Statistics& a)
    {
        const ChannelNumbers& found = a.channels;
        return listed(a.sum ? Tensor{} : a.source, a.sum, a.squares, a.weight, a.bias, found.mean,
                      found.inverse_deviation, found.scale, found.shift, a.running_mean, a.running_variance, a.partial);
    }
    static Tensors of(const Normalise& a)
    {
        return listed(a.source, a.scale, a.shift, a.other, a.other_scale, a.other_shift, a.result, a.signs);
    }
    static Tensors of(const ReduceGradient& a)
    {
        const OtherNorm& other = a.other_norm;
        return listed(a.share, a.other_share, a.output, a.signs, a.winners, a.source, a.channels.mean,
                      a.channels.inverse_deviation, a.result, a.sum, a.sum_of_products, a.partial,
                      a.relu ? a.channels.scale : Tensor{}, a.relu ? a.channels.shift : Tensor{}, other.source,
                      other.channels.mean, other.channels.inverse_deviation, other.sum, other.sum_of_products);
    }
    static Tensors of(const NormGradient& a)
    {
        const OtherNorm& other = a.other_norm;
        return listed(a.gradient, a.output, a.winners, a.source, a.weight, a.channels.mean,
                      a.channels.inverse_deviation, a.sum, a.sum_of_products, a.result,
                      a.relu ? a.channels.scale : Tensor{}, a.relu ? a.channels.shift : Tensor{}, other.source,
                      other.weight, other.channels.mean, other.channels.inverse_deviation, other.sum,
                      other.sum_of_products, other.result);
    }
    static Tensors of(const Covariance& a) { return {a.products, a.sums, a.halves, a.mean, a.factor}; }
    static Tensors of(const MomentStatistics& a)
    {
        const ChannelNumbers& found = a.channels;
        return listed(a.spread, a.weights, a.mean, a.factor, a.weight, a.bias, found.mean, found.inverse_deviation,
                      found.scale, found.shift, a.running_mean, a.running_variance);
    }
    static Tensors of(const MomentGradient& a)
    {
        return listed(a.products, a.spread, a.weights, a.mean, a.factor, a.sum, a.weight, a.channels.inverse_deviation,
                      a.sum_of_products, a.gradient, a.scaled, a.slopes, a.shares);
    }
    static Tensors of(const MomentOffset& a) { return {a.weights, a.shares, a.curvature, a.mean, a.result}; }
    static Tensors of(const LibraryNorm& a)
    {
        return listed(a.source, a.weight, a.bias, a.channels.mean, a.channels.inverse_deviation, a.running_mean,
                      a.running_variance, a.result, a.workspace);
    }
    static Tensors of(const LibraryNormGradient& a)
    {
        return listed(a.gradient, a.output, a.source, a.weight, a.channels.mean, a.channels.inverse_deviation, a.sum,
                      a.sum_of_products, a.result, a.workspace);
    }
    static Tensors of(const LayerNorm& a)
    {
        return {a.source, a.weight, a.bias, a.mean, a.inverse_deviation, a.result};
    }
    static Tensors of(const LayerNormGradient& a)
    {
        return listed(a.gradient, a.source, a.weight, a.mean, a.inverse_deviation, a.result, a.sum, a.sum_of_products,
                      a.partial);
    }
    static Tensors of(const Attention& a) { return {a.source, a.result, a.sums, a.workspace}; }
    static Tensors of(const AttentionGradient& a)
    {
        return listed(a.gradient, a.source, a.result, a.sums, a.to_source, a.products, a.to_queries, a.workspace);
    }
    static Tensors of(const Embed& a) { return {a.tokens, a.weights, a.result}; }
    static Tensors of(const EmbedGradient& a)
    {
        return {a.tokens, a.gradient, a.weights, a.adds ? a.weights : Tensor{}};
    }
    static Tensors of(const AddPositions& a) { return {a.source, a.weights, a.result}; }
    static Tensors of(const AddPositionsGradient& a) { return {a.gradient, a.weights}; }
    static Tensors of(const AttendCached& a) { return {a.source, a.cache, a.cache, a.result, a.partial}; }
    static Tensors of(const TakePositions& a) { return {a.source, a.result}; }
    static Tensors of(const MaskGradient& a) { return {a.share, a.other_share, a.output, a.result}; }
    static Tensors of(const MaxPool& a) { return {a.source, a.result, a.winners, a.scale, a.shift}; }
    static Tensors of(const MaxPoolGradient& a) { return {a.source, a.result, a.winners}; }
    static Tensors of(const AveragePool& a) { return {a.source, a.result}; }
    static Tensors of(const AveragePoolGradient& a) { return {a.source, a.result}; }
    static Tensors of(const Activate& a) { return {a.source, a.gradient, a.result}; }
    static Tensors of(const CopyChannels& a) { return {a.source, a.result, a.order}; }
    static Tensors of(const Scale& a) { return {a.source, a.factor, a.result}; }
    static Tensors of(const ScaleGradient& a) { return {a.gradient, a.source, a.factor, a.to_source, a.to_factor}; }
    static Tensors of(const Dropout& a) { return {a.source, a.result}; }
    static Tensors of(const Loss& a) { return {a.logits, a.labels, a.gradient, a.row_losses}; }
    static Tensors of(const Widen& a)
    {
        Tensors all;
        for (std::size_t i = 0; i < a.from.size(); ++i) all.insert(all.end(), {a.from[i], a.to[i]});
        return all;
    }
    static Tensors of(const CheckFinite& a) { return {a.gradients}; }
    static Tensors of(const Descend& a)
    {
        return {a.values, a.values, a.gradients, a.momenta, a.momenta, a.squares, a.squares, a.copies};
    }
    static Tensors of(const DescendProduct& a)
    {
        return listed(a.source, a.gradient, a.values, a.values, a.momenta, a.momenta, a.copies);
    }
    Tensors of(const Advance& /*scaled*/) const { return {state}; }
    static Tensors of(const Turn& a) { return {a.source, a.angles, a.result}; }

    const Tensor& state;
};

}  // namespace

Program::Program()
    : state_(resident_bytes(sizeof(StepState))), counters_(resident_bytes(counters_there * sizeof(unsigned)))
{
}

Tensor Program::tensor(Tensor shape)
{
    shape.block = plan().add(shape.bytes());
    return shape;
}

Tensor Program::resident(Tensor shape)
{
    const Tensor kept = tensor(shape);
    plan().keep(kept.block);
    return kept;
}

Tensor Program::resident_bytes(std::size_t bytes)
{
    return resident({.batch = 1, .channels = static_cast<int>(bytes), .precision = Precision::int8});
}

Tensor Program::constant(std::vector<std::int32_t> numbers)
{
    const Tensor kept =
        resident({.batch = 1, .channels = static_cast<int>(numbers.size()), .precision = Precision::int32});
    return constants_.emplace_back(kept, std::move(numbers)).first;
}

Tensor Program::scratch(std::size_t bytes)
{
    constexpr std::size_t page = 4096;
    if (bytes == 0) return {};
    const auto pages = static_cast<int>((bytes + page - 1) / page);
    return tensor({.batch = pages, .channels = static_cast<int>(page), .precision = Precision::int8});
}

void Program::append(const Operation& operation, const std::string& implementation)
{
    roof::Operation description{implementation, {}, {}};
    for (const Tensor& tensor : std::visit([this](const auto& one) { return Operands{state_}.of(one); }, operation)) {
        if (!tensor) continue;
        use(tensor.block);
        description.operands += (description.operands.empty() ? "" : ", ") + describe(tensor);
        description.bytes += Bytes{static_cast<double>(tensor.bytes())};
    }
    add_operation(operation, std::move(description));
}

}  // namespace roof::ir
