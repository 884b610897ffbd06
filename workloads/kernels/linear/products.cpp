#include "workloads/kernels/linear/products.hpp"

#include "workloads/kernels/linear/isa.hpp"
#include "workloads/kernels/parallel.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace roof::kernels {
namespace {

const LinearLoops& loops()
{
    return *linear_loops_here().front();
}

/// Calls loop(Range) in every thread. The ranges are whole tiles of 64 and cover [0, count).
template <class Loop>
void for_tiles(int count, const Loop& loop)
{
    constexpr int tile = 64;
#pragma omp parallel
    {
        const int threads = omp_get_num_threads();
        const int thread = omp_get_thread_num();
        const auto edge = [&](int of) {
            return static_cast<int>(
                std::min<long long>(count, 1LL * ((count + tile - 1) / tile) * of / threads * tile));
        };
        const Range range{edge(thread), edge(thread + 1)};
        if (range.begin < range.end) loop(range);
    }
}

template <class Element>
void add_rows(const LinearShape& shape, const Element* dy, float* db, const Range& columns)
{
    std::fill(db + columns.begin, db + columns.end, 0.0F);
    for (int n = 0; n < shape.batch; ++n) {
        const Element* row = dy + std::ptrdiff_t{n} * shape.outputs;
        for (int o = columns.begin; o < columns.end; ++o) db[o] += widen(row[o]);
    }
}

}  // namespace

void linear_forward(const LinearShape& shape, const Elements& w, const float* bias, const Elements& x, float* y,
                    bool relu)
{
    for_tiles(shape.outputs, [&](Range rows) {
        for (int n = 0; n < shape.batch; ++n) {
            float* row = y + std::ptrdiff_t{n} * shape.outputs;
            for (int o = rows.begin; o < rows.end; ++o) row[o] = bias[o];
        }
        loops().forward(shape, w, x, y, rows);
        for (int n = 0; relu && n < shape.batch; ++n) {
            float* row = y + std::ptrdiff_t{n} * shape.outputs;
            for (int o = rows.begin; o < rows.end; ++o) row[o] = std::max(row[o], 0.0F);
        }
    });
}

void linear_backward_data(const LinearShape& shape, const Elements& w, const Elements& dy, float* dx)
{
    for_tiles(shape.inputs, [&](Range columns) { loops().backward_data(shape, w, dy, dx, columns); });
}

void linear_backward_bias(const LinearShape& shape, const Elements& dy, float* db)
{
    for_tiles(shape.outputs, [&](Range columns) {
        if (dy.precision == Precision::bf16)
            add_rows(shape, dy.as<const BFloat16>(), db, columns);
        else
            add_rows(shape, dy.as<const float>(), db, columns);
    });
}

void linear_backward_weights(const LinearShape& shape, const Elements& x, const Elements& dy, float* g)
{
    for_tiles(shape.outputs, [&](Range rows) { loops().backward_weights(shape, x, dy, g, rows); });
}

void linear_update(const LinearShape& shape, const Elements& x, const Elements& dy, float rate,
                   const LinearTrained& trained)
{
    for_tiles(shape.outputs, [&](Range rows) { loops().update(shape, x, dy, rate, trained, rows); });
}

std::uint32_t* linear_scratch(std::size_t words)
{
    struct alignas(64) Line {
        std::array<std::uint32_t, 16> words;
    };
    static thread_local std::vector<Line> memory;
    const std::size_t lines = (std::max(words, std::size_t{linear_scratch_words}) + 15) / 16;
    if (memory.size() < lines) memory.resize(lines);
    return memory.front().words.data();
}

std::span<const LinearLoops* const> linear_loops_here()
{
    static constexpr const LinearLoops* best_first[]{&linear_avx512_bf16, &linear_avx512, &linear_avx2, &linear_sse};
    const std::size_t wider = !__builtin_cpu_supports("x86-64-v3")    ? 3
                              : !__builtin_cpu_supports("x86-64-v4")  ? 2
                              : !__builtin_cpu_supports("avx512bf16") ? 1
                                                                      : 0;
    return std::span(best_first).subspan(wider);
}

const char* linear_implementation(Precision precision)
{
    // In fp32 the loops with bf16 instructions do not use them.
    const bool has_others = precision == Precision::fp32 && &loops() == &linear_avx512_bf16;
    return has_others ? linear_avx512.name : loops().name;
}

}  // namespace roof::kernels
