#include "workloads/onednn/loops/linear/products.hpp"

#include "ert/base/error.hpp"
#include "workloads/onednn/loops/linear/isa.hpp"
#include "workloads/onednn/loops/parallel.hpp"

#include <oneapi/dnnl/dnnl.h>

namespace roof::onednn {
namespace {

const LinearLoops& loops()
{
    static const LinearLoops& widest = __builtin_cpu_supports("x86-64-v4")   ? linear_avx512
                                       : __builtin_cpu_supports("x86-64-v3") ? linear_avx2
                                                                             : linear_sse;
    return widest;
}

/// Calls loop(Range) in every thread; the ranges are whole tiles of 64 and cover [0, count).
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

}  // namespace

void linear_forward(const LinearShape& shape, const Elements& w, const float* bias, const float* x, float* y, bool relu)
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

void linear_backward_data(const LinearShape& shape, const Elements& w, const float* dy, float* dx)
{
    for_tiles(shape.inputs, [&](Range columns) { loops().backward_data(shape, w, dy, dx, columns); });
}

void linear_backward_bias(const LinearShape& shape, const float* dy, float* db)
{
    for_tiles(shape.outputs, [&](Range columns) {
        for (int o = columns.begin; o < columns.end; ++o) db[o] = 0;
        for (int n = 0; n < shape.batch; ++n) {
            const float* row = dy + std::ptrdiff_t{n} * shape.outputs;
            for (int o = columns.begin; o < columns.end; ++o) db[o] += row[o];
        }
    });
}

void linear_gradient(const LinearShape& shape, const float* x, const float* dy, float* g)
{
#pragma omp parallel for
    for (int o = 0; o < shape.outputs; ++o) {
        float* row = g + std::ptrdiff_t{o} * shape.inputs;
        std::fill_n(row, shape.inputs, 0.0F);
        for (int n = 0; n < shape.batch; ++n) {
            const float factor = dy[std::ptrdiff_t{n} * shape.outputs + o];
            const float* values = x + std::ptrdiff_t{n} * shape.inputs;
            for (int i = 0; i < shape.inputs; ++i) row[i] += factor * values[i];
        }
    }
}

void linear_backward_weights(const LinearShape& shape, const float* x, const float* dy, float* g)
{
    const dnnl_status_t status = dnnl_sgemm('T', 'N', shape.outputs, shape.inputs, shape.batch, 1, dy, shape.outputs, x,
                                            shape.inputs, 0, g, shape.row);
    if (status != dnnl_success) throw Error("oneDNN's sgemm refused a linear layer's gradient");
}

void linear_update(const LinearShape& shape, const float* x, const float* dy, float rate, const LinearTrained& trained)
{
    for_tiles(shape.outputs, [&](Range rows) { loops().update(shape, x, dy, rate, trained, rows); });
}

float* linear_scratch()
{
    alignas(64) static thread_local float memory[linear_scratch_floats + linear_factors];
    return memory;
}

const char* linear_implementation()
{
    return loops().name;
}

}  // namespace roof::onednn
