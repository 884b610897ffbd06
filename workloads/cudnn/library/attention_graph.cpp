#include "workloads/cudnn/library/pass_graphs.hpp"

#include "ert/base/error.hpp"

#include <utility>

namespace roof::cudnn {
namespace {

using ir::AttentionPass;

/// Collects the operations. Dimensions are images, heads, rows, columns.
class Writer {
  public:
    explicit Writer(const AttentionPass& pass) : pass_(pass) {}

    std::vector<Descriptor> operations{};

    /// Some heads of a map whose positions have the channels of `heads_there`; `turned`: a column for each position.
    Descriptor part(std::int64_t number, int heads, int heads_there, bool turned = false) const
    {
        const std::int64_t row = std::int64_t{heads_there} * pass_.channels;
        Dimensions dimensions{pass_.batch, heads, pass_.positions, pass_.channels};
        Dimensions strides{pass_.positions * row, pass_.channels, row, 1};
        if (turned) {
            std::swap(dimensions[2], dimensions[3]);
            std::swap(strides[2], strides[3]);
        }
        return tensor(number, dimensions, strides, type_of(pass_.precision));
    }
    Descriptor queries(std::int64_t number) const { return part(number, pass_.heads, in_source()); }
    Descriptor keys(std::int64_t number, bool turned = false) const
    {
        return part(number, pass_.kv_heads, in_source(), turned);
    }
    Descriptor map(std::int64_t number) const { return part(number, pass_.heads, pass_.heads); }
    /// fp32, [images][heads][positions][columns].
    Descriptor numbers(std::int64_t number, int columns = 1) const
    {
        return packed(number, columns, CUDNN_DATA_FLOAT, Residence::memory);
    }
    static Descriptor argument(std::int64_t number)
    {
        return tensor(number, {1, 1, 1, 1}, {1, 1, 1, 1}, CUDNN_DATA_FLOAT, Residence::argument);
    }
    /// Between two operations: a column for each position, or `columns`.
    Descriptor passing(cudnnDataType_t type = CUDNN_DATA_FLOAT) { return passing(type, pass_.positions); }
    Descriptor passing(cudnnDataType_t type, int columns) { return packed(next_++, columns, type, Residence::passing); }

    Descriptor product(const Descriptor& left, const Descriptor& right, const Descriptor& to)
    {
        Descriptor how(CUDNN_BACKEND_MATMUL_DESCRIPTOR);
        how.set(CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_DATA_FLOAT).finish();
        Descriptor operation(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
        operation.set(CUDNN_ATTR_OPERATION_MATMUL_ADESC, left)
            .set(CUDNN_ATTR_OPERATION_MATMUL_BDESC, right)
            .set(CUDNN_ATTR_OPERATION_MATMUL_CDESC, to)
            .set(CUDNN_ATTR_OPERATION_MATMUL_DESC, how);
        return add(operation.finish(), to);
    }
    /// A product of each head of queries, summed over those that read the same keys.
    void product_of_keys(const Descriptor& left, const Descriptor& right, std::int64_t to)
    {
        if (pass_.heads == pass_.kv_heads) {
            product(left, right, keys(to));
            return;
        }
        reduce(CUDNN_REDUCE_TENSOR_ADD, product(left, right, passing(type_of(pass_.precision), pass_.channels)),
               keys(to));
    }
    Descriptor apply(cudnnPointwiseMode_t mode, const std::vector<Descriptor>& from, const Descriptor& to,
                     cudnnDataType_t computed_in = CUDNN_DATA_FLOAT, std::int64_t axis = 0)
    {
        return add(pointwise(mode, from, to, computed_in, axis), to);
    }
    /// Over the columns.
    Descriptor reduced(cudnnReduceTensorOp_t by, const Descriptor& from)
    {
        return reduce(by, from, passing(CUDNN_DATA_FLOAT, 1));
    }
    /// Over what `to` has one of.
    Descriptor reduce(cudnnReduceTensorOp_t by, const Descriptor& from, const Descriptor& to)
    {
        Descriptor how(CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
        how.set(CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_DATA_FLOAT)
            .set(CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, 1, &by);
        Descriptor operation(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR);
        operation.set(CUDNN_ATTR_OPERATION_REDUCTION_DESC, how.finish())
            .set(CUDNN_ATTR_OPERATION_REDUCTION_XDESC, from)
            .set(CUDNN_ATTR_OPERATION_REDUCTION_YDESC, to);
        return add(operation.finish(), to);
    }
    /// The scaled scores, minus infinity where a key is behind its query under a causal mask; minus `sums`, if there
    /// are any.
    Descriptor scores(const Descriptor& queries, const Descriptor& turned_keys, const Descriptor* sums = nullptr)
    {
        Descriptor found = product(queries, turned_keys, passing());
        found = apply(CUDNN_POINTWISE_MUL, {found, argument(attention_scale)}, passing());
        if (sums != nullptr) found = apply(CUDNN_POINTWISE_SUB, {found, *sums}, passing());
        if (!pass_.causal) return found;
        constexpr cudnnDataType_t is = CUDNN_DATA_BOOLEAN;
        const Descriptor row =
            apply(CUDNN_POINTWISE_GEN_INDEX, {found}, passing(CUDNN_DATA_INT32), CUDNN_DATA_FLOAT, 2);
        const Descriptor column =
            apply(CUDNN_POINTWISE_GEN_INDEX, {found}, passing(CUDNN_DATA_INT32), CUDNN_DATA_FLOAT, 3);
        const Descriptor seen = apply(CUDNN_POINTWISE_CMP_GE, {row, column}, passing(is), is);
        return apply(CUDNN_POINTWISE_BINARY_SELECT, {found, argument(attention_lowest), seen}, passing());
    }
    /// The same matrix, in the maps' precision, as the left side of a product with queries for columns.
    Descriptor turned(const Descriptor& from)
    {
        const std::int64_t s = pass_.positions;
        return reshaped(from, tensor(next_++, {pass_.batch, pass_.heads, s, s}, {pass_.heads * s * s, s * s, 1, s},
                                     type_of(pass_.precision), Residence::passing));
    }
    /// Keys with a row for each position, of those that were turned.
    Descriptor turned_back(const Descriptor& keys)
    {
        const std::int64_t row = std::int64_t{in_source()} * pass_.channels;
        return reshaped(keys, tensor(next_++, {pass_.batch, pass_.kv_heads, pass_.positions, pass_.channels},
                                     {pass_.positions * row, pass_.channels, row, 1}, type_of(pass_.precision),
                                     Residence::passing));
    }

  private:
    int in_source() const { return pass_.heads + 2 * pass_.kv_heads; }
    Descriptor packed(std::int64_t number, std::int64_t columns, cudnnDataType_t type, Residence residence) const
    {
        const std::int64_t matrix = pass_.positions * columns;
        return tensor(number, {pass_.batch, pass_.heads, pass_.positions, columns},
                      {pass_.heads * matrix, matrix, columns, 1}, type, residence);
    }
    Descriptor reshaped(const Descriptor& from, const Descriptor& to)
    {
        Descriptor operation(CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR);
        operation.set(CUDNN_ATTR_OPERATION_RESHAPE_XDESC, from).set(CUDNN_ATTR_OPERATION_RESHAPE_YDESC, to);
        return add(operation.finish(), to);
    }
    Descriptor add(const Descriptor& operation, const Descriptor& to)
    {
        operations.push_back(operation);
        return to;
    }

    AttentionPass pass_;
    std::int64_t next_ = first_passing;
};

void write_forward(Writer& write, cudnnDataType_t type)
{
    const Descriptor scores = write.scores(write.queries(attention_queries), write.keys(attention_keys, true));
    const Descriptor largest = write.reduced(CUDNN_REDUCE_TENSOR_MAX, scores);
    const Descriptor away = write.apply(CUDNN_POINTWISE_SUB, {scores, largest}, write.passing());
    const Descriptor power = write.apply(CUDNN_POINTWISE_EXP, {away}, write.passing());
    const Descriptor sum = write.reduced(CUDNN_REDUCE_TENSOR_ADD, power);
    const Descriptor logarithm = write.apply(CUDNN_POINTWISE_LOG, {sum}, write.passing(CUDNN_DATA_FLOAT, 1));
    write.apply(CUDNN_POINTWISE_ADD, {largest, logarithm}, write.numbers(attention_sums));
    const Descriptor weights = write.apply(CUDNN_POINTWISE_DIV, {power, sum}, write.passing(type));
    write.product(weights, write.keys(attention_values), write.map(attention_result));
}

void write_backward(Writer& write, int channels, bool ordered)
{
    const Descriptor queries = write.queries(attention_queries);
    const Descriptor keys = write.keys(attention_keys, true);
    const Descriptor gradient = write.map(attention_gradient);
    const Descriptor shares = write.apply(CUDNN_POINTWISE_MUL, {gradient, write.map(attention_result)},
                                          write.passing(CUDNN_DATA_FLOAT, channels));
    const Descriptor products = write.apply(
        CUDNN_POINTWISE_MUL, {write.reduced(CUDNN_REDUCE_TENSOR_ADD, shares), Writer::argument(attention_one)},
        write.numbers(attention_products));
    const Descriptor sums = write.numbers(attention_sums);
    const Descriptor weights = write.apply(CUDNN_POINTWISE_EXP, {write.scores(queries, keys, &sums)}, write.passing());
    write.product_of_keys(write.turned(weights), gradient, attention_to_values);
    Descriptor slopes = write.product(gradient, write.keys(attention_values, true), write.passing());
    slopes = write.apply(CUDNN_POINTWISE_SUB, {slopes, products}, write.passing());
    slopes = write.apply(CUDNN_POINTWISE_MUL, {slopes, weights}, write.passing());
    slopes = write.apply(CUDNN_POINTWISE_MUL, {slopes, Writer::argument(attention_scale)}, write.passing());
    write.product_of_keys(write.turned(slopes), queries, attention_to_keys);
    const Descriptor to_queries = write.queries(attention_to_queries);
    const Descriptor in_fp32 = write.numbers(attention_to_queries_fp32, channels);
    write.product(slopes, write.turned_back(keys), ordered ? to_queries : in_fp32);
    if (!ordered) write.apply(CUDNN_POINTWISE_IDENTITY, {in_fp32}, to_queries);
}

}  // namespace

std::vector<Descriptor> operations_of(const AttentionPass& pass)
{
    Writer write(pass);
    if (pass.backward)
        write_backward(write, pass.channels, pass.ordered);
    else
        write_forward(write, type_of(pass.precision));
    return write.operations;
}

Descriptor graph_of(const AttentionPass& pass)
{
    constexpr std::size_t first_version = 91600;
    if (cudnnGetVersion() < first_version)
        throw Unsupported("cuDNN " + library_version() + " is too old for attention");
    if (type_of(pass.precision) == CUDNN_DATA_FLOAT) throw Unsupported("cuDNN's attention would round fp32");
    constexpr int vector = 8;  ///< 16 bytes: cuDNN does not check that its vectors are aligned
    if (pass.channels % vector != 0) throw Unsupported("cuDNN's attention reads heads in vectors of 8 channels");
    if (pass.backward && pass.positions == 1) throw Unsupported("cuDNN's attention has no gradient of one position");
    return graph_of(operations_of(pass));
}

}  // namespace roof::cudnn
