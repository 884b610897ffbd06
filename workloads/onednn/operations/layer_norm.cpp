// Layer and RMS norm over the channels of each position, in the layout that the source has. A thread copies the channels of a position
// into a row of fp32 numbers; the arithmetic is in engine/layers/layer_norm.cpp.
#include "workloads/kernels/parallel.hpp"
#include "workloads/onednn/operations/positions.hpp"

#include <cmath>

namespace roof::onednn {
namespace {

/// Forward y is the result; backward the gradient of the result, dx that of the source, and `sums` those of shift and scale of one
/// thread, [2][channels]. An RMS norm has neither shift nor mean.
struct Norm {
    Positions at;
    float epsilon;
    Elements x, y, dx;
    const float* scale;
    const float* shift;
    float* mean;
    float* inverse;
    float* rows;  ///< of one thread, [2][rows_at_once][stored]
    float* sums;
};

/// Positions that a thread copies at once.
constexpr Dim rows_at_once = 32;

template <bool is_shifted>
[[gnu::always_inline]] inline void forward(const Norm& of, Dim position, float* x)
{
    const Dim channels = of.at.channels;
    float mean = 0;
    if constexpr (is_shifted) {
#pragma omp simd reduction(+ : mean)
        for (Dim c = 0; c < channels; ++c) mean += x[c];
        mean /= static_cast<float>(channels);
        of.mean[position] = mean;
    }
    float variance = 0;
#pragma omp simd reduction(+ : variance)
    for (Dim c = 0; c < channels; ++c) variance += (x[c] - mean) * (x[c] - mean);
    const float inverse = 1 / std::sqrt(variance / static_cast<float>(channels) + of.epsilon);
#pragma omp simd
    for (Dim c = 0; c < channels; ++c) x[c] = (x[c] - mean) * inverse * of.scale[c] + (is_shifted ? of.shift[c] : 0);
    of.inverse[position] = inverse;
}

template <bool is_shifted>
[[gnu::always_inline]] inline void backward(const Norm& of, Dim position, float* x, float* given)
{
    const Dim channels = of.at.channels;
    const float mean = is_shifted ? of.mean[position] : 0;
    const float inverse = of.inverse[position];
    float sum = 0;
    float product = 0;
#pragma omp simd reduction(+ : sum, product)
    for (Dim c = 0; c < channels; ++c) {
        x[c] = (x[c] - mean) * inverse;
        if constexpr (is_shifted) of.sums[c] += given[c];
        of.sums[channels + c] += given[c] * x[c];
        given[c] *= of.scale[c];
        if constexpr (is_shifted) sum += given[c];
        product += given[c] * x[c];
    }
    sum /= static_cast<float>(channels);
    product /= static_cast<float>(channels);
#pragma omp simd
    for (Dim c = 0; c < channels; ++c) x[c] = inverse * (given[c] - sum - x[c] * product);
}

template <class Element, bool is_shifted>
[[gnu::always_inline]] inline void positions_in(const Norm& of, Dim begin, Dim end)
{
    const Dim stored = of.at.stored;
    float* const given = of.rows + rows_at_once * stored;
    const DimRange channels{0, of.at.channels};
    const bool is_backward = of.dx.at != nullptr;
    for (Dim first = begin; first < end; first += rows_at_once) {
        const DimRange positions{first, std::min(end, first + rows_at_once)};
        read_channels<Element>(of.at, of.x, positions, channels, of.rows, stored);
        if (is_backward) read_channels<Element>(of.at, of.y, positions, channels, given, stored);
        for (Dim position = first; position < positions.end; ++position) {
            const Dim row = (position - first) * stored;
            if (is_backward)
                backward<is_shifted>(of, position, of.rows + row, given + row);
            else
                forward<is_shifted>(of, position, of.rows + row);
        }
        write_channels<Element>(of.at, of.rows, stored, positions, {0, stored}, is_backward ? of.dx : of.y);
    }
}

[[gnu::target_clones("default", "avx2", "arch=x86-64-v4")]] void run_positions(const Norm& of, Dim begin, Dim end)
{
    const bool is_narrow = of.x.precision == Precision::bf16;
    if (of.mean != nullptr)
        is_narrow ? positions_in<BFloat16, true>(of, begin, end) : positions_in<float, true>(of, begin, end);
    else
        is_narrow ? positions_in<BFloat16, false>(of, begin, end) : positions_in<float, false>(of, begin, end);
}

/// Numbers of a thread's rows, and with its two sums, which begin as zeros.
Dim numbers_of_rows(const Positions& at)
{
    return 2 * rows_at_once * at.stored;
}
Dim numbers_each(const Positions& at)
{
    return numbers_of_rows(at) + 2 * at.channels;
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
        of.rows = numbers + thread * each;
        of.sums = of.rows + numbers_of_rows(of.at);
        std::fill_n(of.rows, each, 0.0F);
        run_positions(of, of.at.rows() * thread / threads, of.at.rows() * (thread + 1) / threads);
    }
    return all;
}

/// Adds the threads' sums in their order. `shift`: null without one.
void add_sums(const Positions& at, const float* numbers, Dim threads, float* shift, float* scale)
{
    const Dim each = numbers_each(at);
    for (Dim c = 0; c < at.channels; ++c) {
        double sum = 0;
        double product = 0;
        for (Dim thread = 0; thread < threads; ++thread) {
            const float* const sums = numbers + thread * each + numbers_of_rows(at);
            sum += static_cast<double>(sums[c]);
            product += static_cast<double>(sums[at.channels + c]);
        }
        if (shift != nullptr) shift[c] = static_cast<float>(sum);
        scale[c] = static_cast<float>(product);
    }
}

}  // namespace

void bind(Binding& to, const ir::LayerNorm& operation)
{
    const Dims channels{operation.source.channels};
    const Tensor x = read_by_position(to, operation.source);
    const Tensor scale = to.train(operation.weight, plain(channels), channels).value;
    const Tensor shift = operation.bias ? to.train(operation.bias, plain(channels), channels).value : Tensor{};
    const Tensor mean = operation.mean ? to.write(operation.mean, plain(operation.mean)) : Tensor{};
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
                 .rows = nullptr,
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
    const Tensor to_shift = operation.sum ? to.trained_of(operation.sum).gradient : Tensor{};
    const Tensor mean = operation.mean ? to.read(operation.mean) : Tensor{};
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
                                     .rows = nullptr,
                                     .sums = nullptr},
                                    numbers.data());
            add_sums(at, numbers.data(), threads, to_shift.data(), to_scale.data());
        },
        {x, given, scale, to_scale, to_shift, mean, inverse, dx, numbers}, "roof:layer_norm");
}

}  // namespace roof::onednn
