// Attention by loops of our own (kernels/attention). A thread takes a head of an image: it copies the head's channels into rows and
// columns of fp32 numbers, and the result back.
#include "workloads/kernels/attention/isa.hpp"
#include "workloads/kernels/parallel.hpp"
#include "workloads/onednn/operations/positions.hpp"

#include <array>
#include <cmath>
#include <numeric>

namespace roof::onednn {
namespace {

using kernels::AttentionShape;

/// A map of one or three parts, the channels of all heads each, in one layout.
struct Map {
    Elements elements;
    Positions at;
};

Map map_of(const Tensor& tensor)
{
    return {tensor.elements(), positions_of(tensor.desc())};
}

/// A head of queries, and that of keys and values which it reads.
struct Head {
    AttentionShape shape;
    Dim image, head, heads, kv_heads;

    DimRange positions() const { return {image * shape.positions, (image + 1) * shape.positions}; }
    /// The part of the queries or results, 0, of keys, 1, or of values, 2.
    DimRange part(Dim k) const
    {
        const Dim place = k == 0 ? head : heads + (k - 1) * kv_heads + head / (heads / kv_heads);
        return {place * shape.channels, (place + 1) * shape.channels};
    }
};

template <class Element>
void read_rows(const Head& of, const Map& map, Dim part, float* rows)
{
    const Dim stored = of.shape.stored();
    read_channels<Element>(map.at, map.elements, of.positions(), of.part(part), rows, stored);
    for (Dim position = 0; position < of.shape.positions; ++position)
        std::fill(rows + position * stored + of.shape.channels, rows + (position + 1) * stored, 0.0F);
}

/// With the last channels it writes the zeros that fill their block.
template <class Element>
void write_rows(const Head& of, const float* rows, Dim part, const Map& map)
{
    constexpr std::array<float, 16> zeros{};
    write_channels<Element>(map.at, rows, of.shape.stored(), of.positions(), of.part(part), map.elements);
    if (of.part(part).end == map.at.channels)
        write_channels<Element>(map.at, zeros.data(), 0, of.positions(), {map.at.channels, map.at.stored},
                                map.elements);
}

void turn(const AttentionShape& shape, const float* rows, float* columns)
{
    constexpr Dim at_once = 16;  // numbers of a cache line: columns are pages apart
    for (Dim first = 0; first < shape.positions; first += at_once) {
        const Dim end = std::min<Dim>(shape.positions, first + at_once);
        for (Dim c = 0; c < shape.channels; ++c)
            for (Dim position = first; position < end; ++position)
                columns[c * shape.padded() + position] = rows[position * shape.stored() + c];
    }
}

/// Memory of a thread, taken piece by piece.
class Pieces {
  public:
    explicit Pieces(float* begin) : next_(begin) {}
    float* take(Dim count)
    {
        float* const piece = next_;
        next_ += (count + 15) / 16 * 16;  // whole cache lines
        return piece;
    }

  private:
    float* next_;
};

/// An upper bound of what a thread takes.
Dim numbers_each(const AttentionShape& shape)
{
    constexpr Dim rows = 10, columns = 2, sums = 3, pieces = 18;
    return rows * shape.rows() + columns * shape.columns() + sums * shape.positions + kernels::attention_scratch +
           pieces * 16;
}

struct Operands {
    const kernels::AttentionLoops& loops;
    Map source, result, gradient, to_source;
    float* logarithms;  ///< [image][head][position]

    float* logarithms_of(const Head& of) const
    {
        return logarithms + (of.image * of.heads + of.head) * of.shape.positions;
    }
};

struct Rows {
    float *queries, *keys, *values;
};

template <class Element>
Rows read_source(const Head& of, const Operands& operands, Pieces& pieces)
{
    const Dim count = of.shape.rows();
    const Rows rows{pieces.take(count), pieces.take(count), pieces.take(count)};
    read_rows<Element>(of, operands.source, 0, rows.queries);
    read_rows<Element>(of, operands.source, 1, rows.keys);
    read_rows<Element>(of, operands.source, 2, rows.values);
    return rows;
}

template <class Element>
void forward(const Head& of, const Operands& operands, float* numbers)
{
    const AttentionShape& shape = of.shape;
    Pieces pieces(numbers);
    const auto [queries, keys, values] = read_source<Element>(of, operands, pieces);
    float* const results = pieces.take(shape.rows());
    float* const columns = pieces.take(shape.columns());
    const kernels::AttentionSums sums{pieces.take(shape.positions), pieces.take(shape.positions)};
    turn(shape, keys, columns);
    operands.loops.forward(shape, {.queries = queries, .values = values, .key_columns = columns}, results, sums,
                           pieces.take(kernels::attention_scratch));
    write_rows<Element>(of, results, 0, operands.result);
    float* const logarithms = operands.logarithms_of(of);
    for (Dim query = 0; query < shape.positions; ++query)
        logarithms[query] = sums.largest[query] + std::log(sums.total[query]);
}

/// Adds the gradients of keys and values to `sums`, which the first head of a group begins and the last one writes.
template <class Element>
void backward(const Head& of, const Operands& operands, float* numbers)
{
    const AttentionShape& shape = of.shape;
    Pieces pieces(numbers);
    const Dim group = of.heads / of.kv_heads;
    float* const sums = pieces.take(2 * shape.rows());
    const auto [queries, keys, values] = read_source<Element>(of, operands, pieces);
    float* const given = pieces.take(shape.rows());
    const kernels::AttentionGradients to{pieces.take(shape.rows()), pieces.take(shape.rows()),
                                         pieces.take(shape.rows())};
    float* const key_columns = pieces.take(shape.columns());
    float* const value_columns = pieces.take(shape.columns());
    float* const products = pieces.take(shape.positions);
    float* const results = to.queries;  // until the loops write it
    read_rows<Element>(of, operands.gradient, 0, given);
    read_rows<Element>(of, operands.result, 0, results);
    for (Dim query = 0; query < shape.positions; ++query) {
        const float* const result = results + query * shape.stored();
        products[query] = std::inner_product(result, result + shape.channels, given + query * shape.stored(), 0.0F);
    }
    turn(shape, keys, key_columns);
    turn(shape, values, value_columns);
    operands.loops.backward(shape, {queries, keys, values, key_columns, value_columns},
                            {given, operands.logarithms_of(of), products}, to, pieces.take(kernels::attention_scratch));
    write_rows<Element>(of, to.queries, 0, operands.to_source);
    for (Dim k = 0; k < 2 * shape.rows(); ++k) {
        const float one = k < shape.rows() ? to.keys[k] : to.values[k - shape.rows()];
        sums[k] = one + (of.head % group == 0 ? 0 : sums[k]);
    }
    if (of.head % group != group - 1) return;
    write_rows<Element>(of, sums, 1, operands.to_source);
    write_rows<Element>(of, sums + shape.rows(), 2, operands.to_source);
}

AttentionShape shape_of(const Positions& result, int heads, bool causal)
{
    const Dim channels = result.channels / heads;
    return {.positions = static_cast<int>(result.of_image),
            .channels = static_cast<int>(channels),
            .scale = 1 / std::sqrt(static_cast<float>(channels)),
            .causal = causal};
}

/// Calls round(head, numbers of the thread) for each head of each image; those with the same keys and values one after the other, in
/// one thread.
template <class Round>
void for_heads(const AttentionShape& shape, Dim images, Dim heads, Dim kv_heads, float* numbers, const Round& round)
{
    const Dim group = heads / kv_heads;
#pragma omp parallel for schedule(dynamic)
    for (Dim k = 0; k < images * kv_heads; ++k)
        for (Dim head = k % kv_heads * group; head < (k % kv_heads + 1) * group; ++head)
            round(Head{shape, k / kv_heads, head, heads, kv_heads},
                  numbers + omp_get_thread_num() * numbers_each(shape));
}

/// The widest that this processor has.
const kernels::AttentionLoops& loops_here()
{
    return *kernels::attention_loops_here().front();
}

}  // namespace

void bind(Binding& to, const ir::Attention& operation)
{
    const Tensor source = read_by_position(to, operation.source);
    const Tensor result = to.write(operation.result, with_channels_together(plain(operation.result)));
    const Tensor sums = to.write(operation.sums, plain(operation.sums));
    const kernels::AttentionLoops& loops = loops_here();
    const Dim heads = operation.heads, kv_heads = operation.kv_heads;
    const AttentionShape shape = shape_of(positions_of(result.desc()), operation.heads, operation.causal);
    const Tensor numbers = to.program.tensor(plain(Dims{to.settings.threads, numbers_each(shape)}));
    to.program.append(
        [=, &loops, images = Dim{operation.source.batch}] {
            const Operands operands{loops, map_of(source), map_of(result), {}, {}, sums.data()};
            const bool is_narrow = result.precision() == Precision::bf16;
            for_heads(shape, images, heads, kv_heads, numbers.data(), [&](const Head& head, float* own) {
                is_narrow ? forward<BFloat16>(head, operands, own) : forward<float>(head, operands, own);
            });
        },
        {source, result, sums, numbers}, loops.name);
}

void bind(Binding& to, const ir::AttentionGradient& operation)
{
    const Tensor source = read_by_position(to, operation.source);
    const Tensor result = to.read(operation.result);
    const Tensor given = to.read(operation.gradient, result.desc());
    const Tensor sums = to.read(operation.sums);
    const Tensor to_source = to.write(operation.to_source, source.desc());
    const kernels::AttentionLoops& loops = loops_here();
    const Dim heads = operation.heads, kv_heads = operation.kv_heads;
    const AttentionShape shape = shape_of(positions_of(result.desc()), operation.heads, operation.causal);
    const Tensor numbers = to.program.tensor(plain(Dims{to.settings.threads, numbers_each(shape)}));
    to.program.append(
        [=, &loops, images = Dim{operation.source.batch}] {
            const Operands operands{loops,         map_of(source),    map_of(result),
                                    map_of(given), map_of(to_source), sums.data()};
            const bool is_narrow = result.precision() == Precision::bf16;
            for_heads(shape, images, heads, kv_heads, numbers.data(), [&](const Head& head, float* own) {
                is_narrow ? backward<BFloat16>(head, operands, own) : backward<float>(head, operands, own);
            });
        },
        {source, result, given, sums, to_source, numbers}, loops.name);
}

}  // namespace roof::onednn
