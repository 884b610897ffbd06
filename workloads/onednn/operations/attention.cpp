// Attention by loops of our own (kernels/attention). A thread takes a head of an image, or a part of its queries where
// there are few heads.
#include "workloads/kernels/attention/isa.hpp"
#include "workloads/kernels/linear/products.hpp"
#include "workloads/kernels/parallel.hpp"
#include "workloads/onednn/operations/positions.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace roof::onednn {
namespace {

using kernels::AttentionLoops;
using kernels::AttentionMap;
using kernels::AttentionShape;
using kernels::AttentionTensors;

/// A tensor of queries or results, or of queries, keys and values, the channels of all heads one after the other.
struct Map {
    explicit Map(const Tensor& of) : tensor(of), at(positions_of(of.desc())) {}
    Tensor tensor;  ///< which gets its memory after this
    Positions at;
};

/// The heads of all images, or of all their windows, and how threads share them.
struct Heads {
    AttentionShape shape;
    Dim images, heads, kv_heads;
    int parts;  ///< of a head

    /// Heads of queries that one of keys and values serves, and items that share its gradients; those follow one
    /// another.
    Dim group() const { return heads / kv_heads; }
    Dim sharing() const { return group() * parts; }

    Dim items() const { return images * heads * parts; }
    Dim image(Dim item) const { return item / parts / heads; }
    Dim head(Dim item) const { return item / parts % heads; }
    int part(Dim item) const { return static_cast<int>(item % parts); }

    /// The channels of an item's head of queries or results, 0, of keys, 1, or of values, 2.
    AttentionMap map(const Map& of, Dim item, Dim what) const
    {
        const Dim place = what == 0 ? head(item) : heads + (what - 1) * kv_heads + head(item) / group();
        return {.elements = of.tensor.elements(),
                .first = of.at.at(image(item) * shape.positions),
                .position = of.at.place,
                .group = of.at.group,
                .lanes = static_cast<int>(of.at.lanes),
                .channel = static_cast<int>(place * shape.channels)};
    }
};

/// Threads get the same number of items, or many.
int parts_for(const AttentionShape& shape, Dim all, Dim threads)
{
    int parts = 1;
    while (parts < shape.blocks() && all * parts % threads != 0 && all * parts < 4 * threads) ++parts;
    return parts;
}

template <class Operation>
Heads heads_of(const Binding& to, const Operation& operation)
{
    const int channels = operation.result.channels / operation.heads;
    const int windows = operation.added.windows;
    const AttentionShape shape{.positions = operation.result.height * operation.result.width / windows,
                               .channels = channels,
                               .scale = 1 / std::sqrt(static_cast<float>(channels)),
                               .causal = operation.causal,
                               .rows = static_cast<int>(operation.added.rows.elements()) / operation.heads};
    const Dim images = Dim{operation.result.batch} * windows;
    return {shape, images, operation.heads, operation.kv_heads,
            parts_for(shape, images * operation.heads, to.settings.threads)};
}

/// What is added to the scores; nothing where there are no rows. The forward pass makes these.
struct Added {
    template <class Operation>
    Added(Binding& to, const Operation& operation, bool makes) : heads(operation.heads)
    {
        if (!operation.added.rows) return;
        const Dims dims{static_cast<Dim>(operation.added.rows.elements()) / heads, heads};
        rows =
            makes ? to.train(operation.added.rows, plain(dims), dims).value : to.trained_of(operation.added.rows).value;
        places = to.list.numbers_of(operation.added.places);
    }

    /// Of an item's head, in its window.
    void set(AttentionTensors& of, const Heads& all, Dim item) const
    {
        if (places.empty()) return;
        const Dim pairs = Dim{all.shape.positions} * all.shape.positions;
        of.added = rows.data() + all.head(item);
        of.apart = heads;
        of.places = places.data() + all.image(item) * pairs % static_cast<Dim>(places.size());
    }

    Dim heads;
    Tensor rows;
    std::vector<std::int32_t> places;
};

/// Zeros behind the last channel, which fill its block.
void write_zeros(const Map& to)
{
    constexpr std::array<float, 16> zeros{};
    const DimRange all{0, to.at.rows()}, behind{to.at.channels, to.at.stored};
    if (to.tensor.precision() == Precision::bf16)
        write_channels<BFloat16>(to.at, zeros.data(), 0, all, behind, to.tensor.elements());
    else
        write_channels<float>(to.at, zeros.data(), 0, all, behind, to.tensor.elements());
}

/// The fastest that this processor has.
const AttentionLoops& loops_for(const Tensor& result)
{
    const auto all = kernels::attention_loops_here(result.precision());
    return *all[all.front() == &kernels::attention_avx512_bf16 && !kernels::is_dot_faster() ? 1 : 0];
}

}  // namespace

void bind(Binding& to, const ir::Attention& operation)
{
    const Tensor source = read_by_position(to, operation.source);
    const Tensor result = to.write(operation.result, with_channels_together(plain(operation.result)));
    const Tensor sums = to.write(operation.sums, plain(operation.sums));
    const AttentionLoops& loops = loops_for(result);
    const Heads heads = heads_of(to, operation);
    const Added added(to, operation, true);
    const Dim each = loops.scratch(heads.shape);
    const Tensor numbers = to.program.tensor(plain(Dims{to.settings.threads, each}));
    std::vector<Tensor> used{source, result, sums, numbers};
    if (!added.places.empty()) used.push_back(added.rows);
    to.program.append(
        [=, &loops, from = Map(source), written = Map(result)] {
#pragma omp parallel for schedule(dynamic)
            for (Dim k = 0; k < heads.items(); ++k) {
                AttentionTensors of{.queries = heads.map(from, k, 0),
                                    .keys = heads.map(from, k, 1),
                                    .values = heads.map(from, k, 2),
                                    .results = heads.map(written, k, 0),
                                    .logarithms = sums.data() + k / heads.parts * heads.shape.positions};
                added.set(of, heads, k);
                loops.forward(heads.shape, of, heads.part(k), heads.parts,
                              numbers.data() + omp_get_thread_num() * each);
            }
        },
        used, loops.name);
}

void bind(Binding& to, const ir::AttentionGradient& operation)
{
    const Tensor source = read_by_position(to, operation.source);
    const Tensor result = to.read(operation.result);
    const Tensor given = to.read(operation.gradient, result.desc());
    const Tensor sums = to.read(operation.sums);
    const Tensor to_source = to.write(operation.to_source, source.desc());
    const AttentionLoops& loops = loops_for(result);
    const Heads heads = heads_of(to, operation);
    const Dim each = loops.scratch(heads.shape);
    const Dim shares = loops.gradients(heads.shape);
    const Dim sharing = heads.sharing();
    const bool is_shared = sharing > 1;
    const Tensor numbers = to.program.tensor(plain(Dims{to.settings.threads, each}));
    const Tensor gradients = to.program.tensor(plain(Dims{is_shared ? heads.items() : to.settings.threads, shares}));
    std::vector<Tensor> used{source, result, given, sums, to_source, numbers, gradients};
    const Added added(to, operation, false);
    const Dim rows = heads.shape.rows;
    Tensor to_rows, shares_of_rows;  // [rows][heads], [items][rows]
    if (rows > 0) {
        to_rows = to.trained_of(operation.added.rows).gradient;
        shares_of_rows = to.program.tensor(plain(Dims{heads.items(), rows}));
        used.insert(used.end(), {added.rows, to_rows, shares_of_rows});
    }
    to.program.append(
        [=, &loops, from = Map(source), written = Map(result), by = Map(given), target = Map(to_source)] {
            const auto tensors = [&](Dim k) {
                AttentionTensors of{.queries = heads.map(from, k, 0),
                                    .keys = heads.map(from, k, 1),
                                    .values = heads.map(from, k, 2),
                                    .results = heads.map(written, k, 0),
                                    .logarithms = sums.data() + k / heads.parts * heads.shape.positions,
                                    .gradients = heads.map(by, k, 0),
                                    .to_queries = heads.map(target, k, 0),
                                    .to_keys = heads.map(target, k, 1),
                                    .to_values = heads.map(target, k, 2)};
                if (rows == 0) return of;
                added.set(of, heads, k);
                of.to_added = shares_of_rows.data() + k * rows;
                return of;
            };
#pragma omp parallel
            {
                const Dim thread = omp_get_thread_num();
#pragma omp for schedule(dynamic)
                for (Dim k = 0; k < heads.items(); ++k) {
                    if (rows > 0) std::fill_n(shares_of_rows.data() + k * rows, rows, 0.0F);
                    float* const own = gradients.data() + (is_shared ? k : thread) * shares;
                    loops.backward(heads.shape, tensors(k), heads.part(k), heads.parts, own,
                                   numbers.data() + thread * each);
                    if (!is_shared) loops.add_parts(heads.shape, tensors(k), 1, own);
                }
#pragma omp for schedule(dynamic)
                for (Dim k = 0; k < (is_shared ? heads.items() : 0); k += sharing)
                    loops.add_parts(heads.shape, tensors(k), static_cast<int>(sharing), gradients.data() + k * shares);
#pragma omp for schedule(static)
                for (Dim k = 0; k < rows * heads.heads; ++k) {
                    float sum = 0;
                    for (Dim item = 0; item < heads.items(); ++item)
                        if (heads.head(item) == k % heads.heads)
                            sum += shares_of_rows.data()[item * rows + k / heads.heads];
                    to_rows.data()[k] = sum;
                }
            }
            write_zeros(target);
        },
        used, loops.name);
}

}  // namespace roof::onednn
