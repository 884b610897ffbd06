#include "workloads/kernels/linear/products.hpp"

#include "workloads/kernels/linear/isa.hpp"
#include "workloads/kernels/parallel.hpp"
#include "workloads/kernels/refetch.hpp"

#include <algorithm>
#include <array>
#include <chrono>

namespace roof::kernels {
namespace {

/// The shortest of a few times of a product whose operands fit the L1 and L2.
double seconds_of_product(const LinearLoops& loops)
{
    using Time = std::chrono::steady_clock;
    const LinearShape shape{.batch = 24, .inputs = 512, .outputs = 64};
    std::vector<BFloat16> w(static_cast<std::size_t>(shape.row) * 64), x(24UL * 512);
    std::vector<float> y(24UL * 64);
    double least = 1;
    for (int trial = 0; trial < 9; ++trial) {
        const auto begin = Time::now();
        loops.forward(shape, {w.data(), Precision::bf16}, {x.data(), Precision::bf16}, y.data(), {0, shape.outputs});
        least = std::min(least, std::chrono::duration<double>(Time::now() - begin).count());
    }
    return least;
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

bool is_dot_faster()
{
    static const bool is_faster = seconds_of_product(linear_avx512_bf16) < seconds_of_product(linear_avx512_widened);
    return is_faster;
}

const LinearLoops& linear_loops(Precision precision)
{
    const std::span<const LinearLoops* const> all = linear_loops_here(precision);
    return *all[all.front() == &linear_avx512_bf16 && !is_dot_faster() ? 1 : 0];
}

void linear_forward(const LinearShape& shape, const Elements& w, const float* bias, const Elements& x, float* y,
                    bool relu)
{
    for_tiles(shape.outputs, [&](Range rows) {
        for (int n = 0; n < shape.batch; ++n) {
            float* row = y + std::ptrdiff_t{n} * shape.outputs;
            for (int o = rows.begin; o < rows.end; ++o) row[o] = bias == nullptr ? 0 : bias[o];
        }
        linear_loops(w.precision).forward(shape, w, x, y, rows);
        for (int n = 0; relu && n < shape.batch; ++n) {
            float* row = y + std::ptrdiff_t{n} * shape.outputs;
            for (int o = rows.begin; o < rows.end; ++o) row[o] = std::max(row[o], 0.0F);
        }
    });
}

void linear_backward_data(const LinearShape& shape, const Elements& w, const Elements& dy, float* dx)
{
    for_tiles(shape.inputs, [&](Range columns) { linear_loops(w.precision).backward_data(shape, w, dy, dx, columns); });
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
    for_tiles(shape.outputs, [&](Range rows) { linear_loops(x.precision).backward_weights(shape, x, dy, g, rows); });
}

void linear_update(const LinearShape& shape, const Elements& x, const Elements& dy, float rate,
                   const LinearTrained& trained)
{
    for_tiles(shape.outputs, [&](Range rows) { linear_loops(x.precision).update(shape, x, dy, rate, trained, rows); });
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

// A tile's weights serve its images, and its packed images the next rows; backward sums serve the next block of rows.
std::vector<Refetch> linear_refetched(const LinearShape& shape, model::Pass pass, Precision precision, int threads)
{
    const LinearLoops& loops = linear_loops(precision);
    const LinearTile& tile = loops.tile.at(static_cast<std::size_t>(pass));
    const auto again = [](int count, int each) { return (count + each - 1) / each - 1.0; };
    const double batch = shape.batch, each = loops.each, of_row = shape.inputs / each;
    const double w = shape.outputs * of_row, x = batch * of_row, dy = batch * shape.outputs / each;
    const double packed = threads * std::min<double>(x, linear_scratch_words);
    if (pass == model::Pass::forward) {
        const double deep = std::min<double>(of_row, linear_depth(shape.batch, tile.images));
        return refetches({{threads * tile.outputs * deep, w * again(shape.batch, tile.images)},
                          {packed, x * again(shape.outputs, tile.outputs)}});
    }
    if (pass == model::Pass::backward_weights)
        return refetches({{threads * tile.outputs * batch / each, dy * again(shape.inputs, tile.inputs)},
                          {packed, x * again(shape.outputs, tile.outputs)}});
    const double sums = batch * shape.inputs;
    return refetches({{1.0 * threads * linear_block * tile.inputs, w * again(shape.batch, tile.images)},
                      {threads * linear_block * batch, dy * again(shape.inputs, tile.inputs)},
                      {sums, 2 * sums * again(shape.outputs, linear_block * loops.each)}});
}

const char* linear_implementation(Precision precision)
{
    return linear_loops(precision).name;
}

}  // namespace roof::kernels
