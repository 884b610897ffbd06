// Attention of one position over a cache of keys and values. A thread takes a head of keys and values of an image, with the heads of
// queries that it serves, and reads the cache once, position by position.
#include "workloads/engine/activations.hpp"
#include "workloads/kernels/parallel.hpp"
#include "workloads/onednn/operations/binding.hpp"

#include <cmath>

namespace roof::onednn {
namespace {

struct Cached {
    Dim heads, kv_heads, channels, positions;

    Dim group() const { return heads / kv_heads; }
    Dim of_image() const { return (heads + 2 * kv_heads) * channels; }
    /// Numbers of a thread: the queries, the results and the scores of a group.
    Dim numbers() const { return group() * (2 * channels + positions); }
};

/// Makes weights of scores, whose sum is 1.
[[gnu::always_inline]] inline void weigh(float* scores, Dim positions)
{
    float largest = scores[0];
#pragma omp simd reduction(max : largest)
    for (Dim position = 0; position < positions; ++position)
        largest = scores[position] > largest ? scores[position] : largest;
    float total = 0;
#pragma omp simd reduction(+ : total)
    for (Dim position = 0; position < positions; ++position) {
        scores[position] = engine::exponential(scores[position] - largest);
        total += scores[position];
    }
#pragma omp simd
    for (Dim position = 0; position < positions; ++position) scores[position] /= total;
}

template <class Element>
[[gnu::always_inline]] inline void attend(const Cached& of, const Element* source, Element* cache, Element* result,
                                          Dim item, float* numbers)
{
    const Dim channels = of.channels, positions = of.positions, group = of.group();
    const Dim image = item / of.kv_heads, kv_head = item % of.kv_heads;
    const Element* const given = source + image * of.of_image();
    const Element* const own = given + (of.heads + kv_head) * channels;
    Element* const keys = cache + item * 2 * positions * channels;
    Element* const values = keys + positions * channels;
    for (Dim c = 0; c < channels; ++c) {
        keys[(positions - 1) * channels + c] = own[c];
        values[(positions - 1) * channels + c] = own[of.kv_heads * channels + c];
    }
    float* const queries = numbers;
    float* const sums = queries + group * channels;
    float* const scores = sums + group * channels;
    const float scale = 1 / std::sqrt(static_cast<float>(channels));
    for (Dim i = 0; i < group * channels; ++i) {
        queries[i] = widen(given[kv_head * group * channels + i]) * scale;
        sums[i] = 0;
    }
    for (Dim position = 0; position < positions; ++position) {
        const Element* const key = keys + position * channels;
        for (Dim query = 0; query < group; ++query) {
            const float* const row = queries + query * channels;
            float score = 0;
#pragma omp simd reduction(+ : score)
            for (Dim c = 0; c < channels; ++c) score += row[c] * widen(key[c]);
            scores[query * positions + position] = score;
        }
    }
    for (Dim query = 0; query < group; ++query) weigh(scores + query * positions, positions);
    for (Dim position = 0; position < positions; ++position) {
        const Element* const value = values + position * channels;
        for (Dim query = 0; query < group; ++query) {
            const float weight = scores[query * positions + position];
            float* const row = sums + query * channels;
#pragma omp simd
            for (Dim c = 0; c < channels; ++c) row[c] += weight * widen(value[c]);
        }
    }
    Element* const to = result + (image * of.heads + kv_head * group) * channels;
    for (Dim i = 0; i < group * channels; ++i) narrow(sums[i], to[i]);
}

[[gnu::target_clones("default", "avx2", "arch=x86-64-v4")]] void run(const Cached& of, const Elements& source,
                                                                     const Elements& cache, const Elements& result,
                                                                     Dim item, float* numbers)
{
    if (source.precision == Precision::bf16)
        attend(of, source.as<BFloat16>(), cache.as<BFloat16>(), result.as<BFloat16>(), item, numbers);
    else
        attend(of, source.as<float>(), cache.as<float>(), result.as<float>(), item, numbers);
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
