// Layer norm over the channels of each position, in the layout that the source has. A thread copies the channels of a position
// into a row of fp32 numbers; the arithmetic is in engine/layers/layer_norm.cpp.
#include "workloads/kernels/parallel.hpp"
#include "workloads/onednn/operations/positions.hpp"

#include <cmath>

namespace roof::onednn {
namespace {

/// Forward y is the result; backward the gradient of the result, dx that of the source, and `sums` those of shift and scale of one
/// thread, [2][channels].
struct Norm {
    Positions at;
    float epsilon;
    Elements x, y, dx;
    const float* scale;
    const float* shift;
    float* mean;
    float* inverse;
    float* row;  ///< of one thread, [2][stored]
    float* sums;
};

template <class Element>
[[gnu::always_inline]] inline void forward(const Norm& of, Dim row)
{
    const Dim channels = of.at.channels;
    float* const x = of.row;
    read_channels<Element>(of.at, of.x, row, {0, channels}, x);
    float mean = 0;
#pragma omp simd reduction(+ : mean)
    for (Dim c = 0; c < channels; ++c) mean += x[c];
    mean /= static_cast<float>(channels);
    float variance = 0;
#pragma omp simd reduction(+ : variance)
    for (Dim c = 0; c < channels; ++c) variance += (x[c] - mean) * (x[c] - mean);
    const float inverse = 1 / std::sqrt(variance / static_cast<float>(channels) + of.epsilon);
#pragma omp simd
    for (Dim c = 0; c < channels; ++c) x[c] = (x[c] - mean) * inverse * of.scale[c] + of.shift[c];
    write_channels<Element>(of.at, x, row, {0, of.at.stored}, of.y);
    of.mean[row] = mean;
    of.inverse[row] = inverse;
}

template <class Element>
[[gnu::always_inline]] inline void backward(const Norm& of, Dim row)
{
    const Dim channels = of.at.channels;
    float* const x = of.row;
    float* const given = of.row + of.at.stored;
    read_channels<Element>(of.at, of.x, row, {0, channels}, x);
    read_channels<Element>(of.at, of.y, row, {0, channels}, given);
    const float mean = of.mean[row];
    const float inverse = of.inverse[row];
    float sum = 0;
    float product = 0;
#pragma omp simd reduction(+ : sum, product)
    for (Dim c = 0; c < channels; ++c) {
        x[c] = (x[c] - mean) * inverse;
        of.sums[c] += given[c];
        of.sums[channels + c] += given[c] * x[c];
        given[c] *= of.scale[c];
        sum += given[c];
        product += given[c] * x[c];
    }
    sum /= static_cast<float>(channels);
    product /= static_cast<float>(channels);
#pragma omp simd
    for (Dim c = 0; c < channels; ++c) x[c] = inverse * (given[c] - sum - x[c] * product);
    write_channels<Element>(of.at, x, row, {0, of.at.stored}, of.dx);
}

template <class Element>
[[gnu::always_inline]] inline void rows_in(const Norm& of, Dim begin, Dim end)
{
    for (Dim row = begin; row < end; ++row)
        of.dx.at == nullptr ? forward<Element>(of, row) : backward<Element>(of, row);
}

[[gnu::target_clones("default", "avx2", "arch=x86-64-v4")]] void run_rows(const Norm& of, Dim begin, Dim end)
{
    if (of.x.precision == Precision::bf16)
        rows_in<BFloat16>(of, begin, end);
    else
        rows_in<float>(of, begin, end);
}

/// Numbers of a thread: two rows and, backward, two sums, which begin as zeros.
Dim numbers_each(const Positions& at)
{
    return 2 * at.stored + 2 * at.channels;
}

/// Returns the number of threads.
Dim run(Norm of, float* numbers)
{
    const Dim each = numbers_each(of.at);
    Dim all = 1;
#pragma omp parallel firstprivate(of)
    {
        const Dim threads = omp_get_num_threads();
        const Dim thread = omp_get_thread_num();
        if (thread == 0) all = threads;
        of.row = numbers + thread * each;
        of.sums = of.row + 2 * of.at.stored;
        std::fill_n(of.row, each, 0.0F);
        run_rows(of, of.at.rows() * thread / threads, of.at.rows() * (thread + 1) / threads);
    }
    return all;
}

/// Adds the threads' sums in their order.
void add_sums(const Positions& at, const float* numbers, Dim threads, float* shift, float* scale)
{
    const Dim each = numbers_each(at);
    for (Dim c = 0; c < at.channels; ++c) {
        double sum = 0;
        double product = 0;
        for (Dim thread = 0; thread < threads; ++thread) {
            const float* const sums = numbers + thread * each + 2 * at.stored;
            sum += static_cast<double>(sums[c]);
            product += static_cast<double>(sums[at.channels + c]);
        }
        shift[c] = static_cast<float>(sum);
        scale[c] = static_cast<float>(product);
    }
}

}  // namespace

void bind(Binding& to, const ir::LayerNorm& operation)
{
    const Dims channels{operation.source.channels};
    const Tensor x = read_by_position(to, operation.source);
    const Tensor scale = to.train(operation.weight, plain(channels), channels).value;
    const Tensor shift = to.train(operation.bias, plain(channels), channels).value;
    const Tensor mean = to.write(operation.mean, plain(operation.mean));
    const Tensor inverse = to.write(operation.inverse_deviation, plain(operation.inverse_deviation));
    const Tensor y = to.write(operation.result, x.desc());
    const Positions at = positions_of(x.desc());
    const Tensor numbers = to.program.tensor(plain(Dims{to.settings.threads, numbers_each(at)}));
    to.program.append(
        [=, epsilon = operation.epsilon] {
            run({.at = at,
                 .epsilon = epsilon,
                 .x = x.elements(),
                 .y = y.elements(),
                 .dx = {},
                 .scale = scale.data(),
                 .shift = shift.data(),
                 .mean = mean.data(),
                 .inverse = inverse.data(),
                 .row = nullptr,
                 .sums = nullptr},
                numbers.data());
        },
        {x, scale, shift, mean, inverse, y, numbers}, "roof:layer_norm");
}

void bind(Binding& to, const ir::LayerNormGradient& operation)
{
    const Tensor x = read_by_position(to, operation.source);
    const Tensor given = to.read(operation.gradient, x.desc());
    const Trained& weight = to.trained_of(operation.weight);
    const Tensor scale = weight.value;
    const Tensor to_scale = weight.gradient;
    const Tensor to_shift = to.trained_of(operation.sum).gradient;
    const Tensor mean = to.read(operation.mean);
    const Tensor inverse = to.read(operation.inverse_deviation);
    const Tensor dx = to.write(operation.result, x.desc());
    const Positions at = positions_of(x.desc());
    const Tensor numbers = to.program.tensor(plain(Dims{to.settings.threads, numbers_each(at)}));
    to.program.append(
        [=] {
            const Dim threads = run({.at = at,
                                     .epsilon = 0,
                                     .x = x.elements(),
                                     .y = given.elements(),
                                     .dx = dx.elements(),
                                     .scale = scale.data(),
                                     .shift = nullptr,
                                     .mean = mean.data(),
                                     .inverse = inverse.data(),
                                     .row = nullptr,
                                     .sums = nullptr},
                                    numbers.data());
            add_sums(at, numbers.data(), threads, to_shift.data(), to_scale.data());
        },
        {x, given, scale, to_scale, to_shift, mean, inverse, dx, numbers}, "roof:layer_norm");
}

}  // namespace roof::onednn
