// Attention of one position over a cache of keys and values. A thread takes a head of keys and values of an image, with
// the heads of queries that it serves: scores are the product of the keys with these queries, results that of their
// weights with the values, both by the loops of linear layers, which read the cache once.
#include "workloads/engine/activations.hpp"
#include "workloads/kernels/linear/isa.hpp"
#include "workloads/kernels/parallel.hpp"
#include "workloads/onednn/operations/binding.hpp"

#include <algorithm>
#include <cmath>

namespace roof::onednn {
namespace {

struct Cached {
    Dim heads, kv_heads, channels, positions;

    Dim group() const { return heads / kv_heads; }
    Dim of_image() const { return (heads + 2 * kv_heads) * channels; }
    /// Numbers of a thread: the scores, the weights in the tensors' precision, and the results of a group.
    Dim numbers() const { return group() * (2 * positions + channels); }
};

/// Makes weights of a query's scores times `scale`, whose sum is 1.
template <class Element>
[[gnu::always_inline]] inline void weigh(float* scores, Dim positions, float scale, Element* weights)
{
    float largest = scores[0];
#pragma omp simd reduction(max : largest)
    for (Dim position = 0; position < positions; ++position)
        largest = scores[position] > largest ? scores[position] : largest;
    float total = 0;
#pragma omp simd reduction(+ : total)
    for (Dim position = 0; position < positions; ++position) {
        scores[position] = engine::exponential((scores[position] - largest) * scale);
        total += scores[position];
    }
#pragma omp simd
    for (Dim position = 0; position < positions; ++position) narrow(scores[position] / total, weights[position]);
}

template <class Element>
[[gnu::always_inline]] inline void attend(const Cached& of, Precision precision, Element* source, Element* cache,
                                          Element* result, Dim item, float* numbers)
{
    const kernels::LinearLoops& loops = kernels::linear_loops(precision);
    const Dim channels = of.channels, positions = of.positions, group = of.group();
    const Dim image = item / of.kv_heads, kv_head = item % of.kv_heads;
    Element* const given = source + image * of.of_image();
    const Element* const own = given + (of.heads + kv_head) * channels;
    Element* const keys = cache + item * 2 * positions * channels;
    Element* const values = keys + positions * channels;
    std::copy_n(own, channels, keys + (positions - 1) * channels);
    std::copy_n(own + of.kv_heads * channels, channels, values + (positions - 1) * channels);
    float* const scores = numbers;
    auto* const weights = reinterpret_cast<Element*>(scores + group * positions);
    float* const sums = scores + 2 * group * positions;
    const kernels::LinearShape shape{.batch = static_cast<int>(group),
                                     .inputs = static_cast<int>(channels),
                                     .outputs = static_cast<int>(positions),
                                     .row = static_cast<int>(channels)};
    std::fill_n(scores, group * positions, 0.0F);
    loops.forward(shape, {keys, precision}, {given + kv_head * group * channels, precision}, scores,
                  {0, shape.outputs});
    const float scale = 1 / std::sqrt(static_cast<float>(channels));
    for (Dim query = 0; query < group; ++query)
        weigh(scores + query * positions, positions, scale, weights + query * positions);
    loops.backward_data(shape, {values, precision}, {weights, precision}, sums, {0, shape.inputs});
    Element* const to = result + (image * of.heads + kv_head * group) * channels;
    for (Dim i = 0; i < group * channels; ++i) narrow(sums[i], to[i]);
}

[[gnu::target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")]] void run(const Cached& of, const Elements& source,
                                                                               const Elements& cache,
                                                                               const Elements& result, Dim item,
                                                                               float* numbers)
{
    if (source.precision == Precision::bf16)
        attend(of, source.precision, source.as<BFloat16>(), cache.as<BFloat16>(), result.as<BFloat16>(), item, numbers);
    else
        attend(of, source.precision, source.as<float>(), cache.as<float>(), result.as<float>(), item, numbers);
}

}  // namespace

void bind(Binding& to, const ir::AttendCached& operation)
{
    const Cached of{operation.heads, operation.kv_heads, operation.result.channels / operation.heads,
                    operation.cache.width};
    const Tensor source = to.read(operation.source, plain(operation.source));
    const Tensor cache = to.program.resident(plain(operation.cache));
    to.set(operation.cache, cache);
    const Tensor result = to.write(operation.result, plain(operation.result));
    const Tensor numbers = to.program.tensor(plain(Dims{to.settings.threads, of.numbers()}));
    to.program.append(
        [=, items = Dim{operation.source.batch} * of.kv_heads] {
#pragma omp parallel for schedule(static)
            for (Dim item = 0; item < items; ++item)
                run(of, source.elements(), cache.elements(), result.elements(), item,
                    numbers.data() + omp_get_thread_num() * of.numbers());
        },
        {source, cache, result, numbers}, "roof:attention");
}

}  // namespace roof::onednn
