#include "workloads/engine/ir/program.hpp"

#include "workloads/model/work.hpp"

#include <algorithm>
#include <initializer_list>
#include <utility>

namespace roof::ir {
namespace {

std::size_t bytes_of(std::size_t elements, Precision precision)
{
    return elements * static_cast<std::size_t>(traits(precision).storage_bytes);
}

/// The part of the source that the windows read.
std::size_t read_of(const Convolve& a)
{
    const auto& [source, result] = std::pair(a.shape.source, a.shape.result);
    const auto rows = static_cast<std::size_t>(model::positions_read(source.height, result.height, a.shape.window));
    const auto columns =
        static_cast<std::size_t>(model::positions_read(source.width, result.width, a.shape.window.across()));
    const std::size_t values =
        static_cast<std::size_t>(a.shape.batch) * static_cast<std::size_t>(source.channels) * rows * columns;
    return bytes_of(values, a.source.precision);
}

/// The bytes of channels first, first + 1, ... of the tensor, `count` of them, as far as it has them.
std::size_t channels_in(const Tensor& tensor, int first, int count)
{
    const int there = std::min(tensor.channels, first + count) - std::max(0, first);
    return bytes_of(tensor.rows() * static_cast<std::size_t>(std::max(0, there)), tensor.precision);
}

class OperandList {
  public:
    OperandList(const Tensor& state, std::size_t updated_apart) : state_(state), updated_apart_(updated_apart) {}

    std::vector<Operand> all;

    void operator()(const ImportImages& a) { read({a.from, a.labels_from}).written({a.to, a.labels}); }
    void operator()(const ClearUnused& a) { scratch({a.gradient}); }  // of which it writes few
    void operator()(const Convolve& a)
    {
        if (a.shape.pass == Pass::backward_data)
            read({a.weights, a.result}).written({a.source});
        else if (a.shape.pass == Pass::forward)
            part(a.source, Use::read, read_of(a)).read({a.weights, a.bias}).written({a.result, a.sum, a.squares});
        else
            part(a.source, Use::read, read_of(a)).read({a.result}).written({a.weights, a.bias});
        read({a.scale, a.shift}).scratch({a.workspace});
    }
    void operator()(const Multiply& a)
    {
        // Two operands may be the same tensor, which is then read once.
        const Tensor result = a.source.block == a.result.block ? Tensor{} : a.result;
        for (const Tensor& one : {a.source, a.weights, result})
            if (one.block != a.written().block) read({one});
        const bool sums = a.pass == Pass::backward_weights;
        const bool is_forward = a.pass == Pass::forward;
        read({sums ? Tensor{} : a.bias, a.adds ? a.written() : Tensor{}, is_forward ? Tensor{} : a.before_gelu});
        written({a.written(), sums ? a.bias : Tensor{}, is_forward ? a.before_gelu : Tensor{}}).scratch({a.workspace});
    }
    void operator()(const AddBias& a) { read({a.values, a.bias}).written({a.values}); }
    void operator()(const Statistics& a)
    {
        read({a.sum ? Tensor{} : a.source, a.sum, a.squares, a.weight, a.bias, a.running_mean, a.running_variance})
            .written({a.channels.mean, a.channels.inverse_deviation, a.channels.scale, a.channels.shift, a.running_mean,
                      a.running_variance})
            .scratch({a.partial});
    }
    void operator()(const Normalise& a)
    {
        read({a.source, a.scale, a.shift, a.other, a.other_scale, a.other_shift}).written({a.result, a.signs});
    }
    void operator()(const ReduceGradient& a)
    {
        const OtherNorm& other = a.other_norm;
        read({a.share, a.other_share, a.output, a.signs, a.winners, a.source, a.channels.mean,
              a.channels.inverse_deviation, a.relu ? a.channels.scale : Tensor{}, a.relu ? a.channels.shift : Tensor{},
              other.source, other.channels.mean, other.channels.inverse_deviation})
            .written({a.result, a.sum, a.sum_of_products, other.sum, other.sum_of_products})
            .scratch({a.partial});
    }
    void operator()(const NormGradient& a)
    {
        const OtherNorm& other = a.other_norm;
        read({a.gradient, a.output, a.winners, a.source, a.weight, a.channels.mean, a.channels.inverse_deviation, a.sum,
              a.sum_of_products, a.relu ? a.channels.scale : Tensor{}, a.relu ? a.channels.shift : Tensor{},
              other.source, other.weight, other.channels.mean, other.channels.inverse_deviation, other.sum,
              other.sum_of_products})
            .written({a.result, other.result});
    }
    void operator()(const Covariance& a) { read({a.products, a.sums}).written({a.halves, a.mean, a.factor}); }
    void operator()(const MomentStatistics& a)
    {
        read({a.spread, a.weights, a.mean, a.factor, a.weight, a.bias, a.running_mean, a.running_variance})
            .written({a.channels.mean, a.channels.inverse_deviation, a.channels.scale, a.channels.shift, a.running_mean,
                      a.running_variance});
    }
    void operator()(const MomentGradient& a)
    {
        read({a.products, a.spread, a.weights, a.mean, a.factor, a.sum, a.weight, a.channels.inverse_deviation})
            .written({a.sum_of_products, a.gradient, a.scaled, a.slopes, a.shares});
    }
    void operator()(const MomentOffset& a) { read({a.weights, a.shares, a.curvature, a.mean}).written({a.result}); }
    void operator()(const LibraryNorm& a)
    {
        read({a.source, a.weight, a.bias, a.running_mean, a.running_variance})
            .written({a.channels.mean, a.channels.inverse_deviation, a.running_mean, a.running_variance, a.result})
            .scratch({a.workspace});
    }
    void operator()(const LibraryNormGradient& a)
    {
        read({a.gradient, a.output, a.source, a.weight, a.channels.mean, a.channels.inverse_deviation})
            .written({a.sum, a.sum_of_products, a.result})
            .scratch({a.workspace});
    }
    void operator()(const LayerNorm& a)
    {
        read({a.source, a.other, a.weight, a.bias}).written({a.sum, a.mean, a.inverse_deviation, a.result});
    }
    void operator()(const LayerNormGradient& a)
    {
        read({a.gradient, a.source, a.weight, a.mean, a.inverse_deviation})
            .written({a.result, a.sum, a.sum_of_products})
            .scratch({a.partial});
    }
    void operator()(const Attention& a)
    {
        read({a.source, a.added.rows, a.added.places}).written({a.result, a.sums}).scratch({a.workspace});
    }
    void operator()(const AttentionGradient& a)
    {
        read({a.gradient, a.source, a.result, a.sums, a.added.rows, a.added.places})
            .written({a.to_source, a.to_rows})
            .scratch({a.products, a.to_queries, a.workspace});
    }
    void operator()(const Embed& a)
    {
        const std::size_t rows = bytes_of(a.result.elements(), a.weights.precision);
        read({a.tokens}).part(a.weights, Use::read, rows).written({a.result});
    }
    void operator()(const EmbedGradient& a)
    {
        read({a.tokens, a.gradient});
        const std::size_t rows = bytes_of(a.gradient.elements(), a.weights.precision);
        if (a.adds)
            part(a.weights, Use::read, rows).part(a.weights, Use::written, rows);
        else
            written({a.weights});
    }
    void operator()(const AddPositions& a)
    {
        const std::size_t of_image = a.result.elements() / static_cast<std::size_t>(a.result.batch);
        read({a.source}).part(a.weights, Use::read, bytes_of(of_image, a.weights.precision)).written({a.result});
    }
    void operator()(const AddPositionsGradient& a)
    {
        const std::size_t there = static_cast<std::size_t>(a.gradient.batch) * a.weights.elements();
        part(a.gradient, Use::read, bytes_of(there, a.gradient.precision)).written({a.weights});
    }
    void operator()(const AttendCached& a)
    {
        const std::size_t own = a.source.bytes() - a.result.bytes();  // keys and values of the position
        read({a.source, a.cache, a.angles}).part(a.cache, Use::written, own).written({a.result}).scratch({a.partial});
    }
    void operator()(const TakePositions& a)
    {
        if (a.order) {
            read({a.source, a.order}).written({a.result});
            return;
        }
        const int there = std::min(a.source.height * a.source.width, a.first + a.result.height * a.result.width) -
                          std::max(0, a.first);
        const std::size_t taken = static_cast<std::size_t>(a.source.batch) *
                                  static_cast<std::size_t>(std::max(0, there)) *
                                  static_cast<std::size_t>(a.source.channels);
        part(a.source, Use::read, bytes_of(taken, a.source.precision)).written({a.result});
    }
    void operator()(const MaskGradient& a) { read({a.share, a.other_share, a.output}).written({a.result}); }
    void operator()(const MaxPool& a) { read({a.source, a.scale, a.shift}).written({a.result, a.winners}); }
    void operator()(const MaxPoolGradient& a) { read({a.result, a.winners}).written({a.source}); }
    void operator()(const AveragePool& a) { read({a.source}).written({a.result}); }
    void operator()(const AveragePoolGradient& a) { read({a.result}).written({a.source}); }
    void operator()(const Resize& a) { read({a.source}).written({a.result}); }
    void operator()(const ResizeGradient& a) { read({a.result}).written({a.source}); }
    void operator()(const Activate& a) { read({a.source, a.gradient}).written({a.result}); }
    void operator()(const CopyChannels& a)
    {
        part(a.source, Use::read, a.order ? a.source.bytes() : channels_in(a.source, a.from, a.count))
            .part(a.result, Use::written, channels_in(a.result, a.to, a.count))
            .read({a.order});
    }
    void operator()(const Scale& a) { read({a.source, a.factor}).written({a.result}); }
    void operator()(const ScaleGradient& a)
    {
        read({a.gradient, a.source, a.factor}).written({a.to_source, a.to_factor});
    }
    void operator()(const Dropout& a) { read({a.source}).written({a.result}); }
    void operator()(const Loss& a) { read({a.logits, a.labels}).written({a.gradient, a.row_losses}); }
    void operator()(const Widen& a)
    {
        for (std::size_t i = 0; i < a.from.size(); ++i) read({a.from[i]}).written({a.to[i]});
    }
    void operator()(const CheckFinite& a) { read({a.gradients}); }
    void operator()(const Descend& a)
    {
        const std::size_t updated = a.values.elements() - updated_apart_;
        for (const Tensor& one : {a.values, a.gradients, a.momenta, a.squares})
            part(one, Use::read, bytes_of(updated, one.precision));
        for (const Tensor& one : {a.values, a.momenta, a.squares, a.copies})
            part(one, Use::written, bytes_of(updated, one.precision));
    }
    void operator()(const DescendProduct& a)
    {
        read({a.source, a.gradient, a.values, a.momenta}).written({a.values, a.momenta, a.copies});
    }
    void operator()(const Advance& /*scaled*/) { read({state_}).written({state_}); }
    void operator()(const Turn& a) { read({a.source, a.angles}).written({a.result}); }

  private:
    OperandList& read(std::initializer_list<Tensor> tensors) { return add(tensors, Use::read); }
    OperandList& written(std::initializer_list<Tensor> tensors) { return add(tensors, Use::written); }
    OperandList& scratch(std::initializer_list<Tensor> tensors) { return add(tensors, Use::scratch); }
    OperandList& add(std::initializer_list<Tensor> tensors, Use use)
    {
        for (const Tensor& tensor : tensors)
            if (tensor) all.push_back({tensor, use});
        return *this;
    }
    /// At most so many bytes of the tensor.
    OperandList& part(const Tensor& tensor, Use use, std::size_t bytes)
    {
        if (tensor) all.push_back({tensor, use, std::min(bytes, tensor.bytes())});
        return *this;
    }

    const Tensor& state_;
    std::size_t updated_apart_;
};

}  // namespace

std::vector<Operand> operands_of(const Operation& operation, const Tensor& state, std::size_t updated_apart)
{
    OperandList operands(state, updated_apart);
    std::visit(operands, operation);
    return std::move(operands.all);
}

}  // namespace roof::ir
