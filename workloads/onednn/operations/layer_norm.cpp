// Layer and RMS norm over the channels of each position, in the layout that the source has. A thread copies the
// channels of a position into a row of fp32 numbers; the arithmetic is in engine/layers/layer_norm.cpp.
#include "workloads/kernels/lanes.hpp"
#include "workloads/kernels/parallel.hpp"
#include "workloads/onednn/operations/positions.hpp"

#include <cmath>
#include <type_traits>

namespace roof::onednn {
namespace {

/// Forward y is the result; backward the gradient of the result, dx that of the source, and `sums` those of shift and
/// scale of one thread, [2][channels]. An RMS norm has neither shift nor mean.
struct Norm {
    Positions at;
    float epsilon = 0;
    Elements x, y, dx{};
    const float *scale, *shift = nullptr;
    float *mean, *inverse;
    float *rows = nullptr, *sums = nullptr;  ///< rows: of one thread, [2][rows_at_once][stored]
};

/// Positions that a thread copies at once, whole pages of a map in blocks of 16 channels; and those whose sums it adds
/// at once, since additions to one sum wait for one another.
constexpr Dim rows_at_once = 64;
constexpr int sums_at_once = 4;

using Lane = RowLane;
using Floats = Lane::Floats;

/// Calls round(c, a vector to work with) for each vector of channels, and with a float for each of those that are left.
template <class Round>
[[gnu::always_inline]] inline void for_channels(Dim channels, const Round& round)
{
    Floats vector{};
    float one = 0;
    Dim c = 0;
    for (; c + row_lanes <= channels; c += row_lanes) round(c, vector);
    for (; c < channels; ++c) round(c, one);
}

[[gnu::always_inline]] inline void load(const float* from, Floats& to)
{
    Lane::load(from, to);
}
[[gnu::always_inline]] inline void load(const float* from, float& to)
{
    to = *from;
}

/// The sum of a row: of its vectors, and of the channels that are left.
struct Sum {
    Floats vectors{};
    float rest = 0;

    [[gnu::always_inline]] void add(const Floats& some) { vectors += some; }
    [[gnu::always_inline]] void add(float one) { rest += one; }
    [[gnu::always_inline]] float over(Dim channels) const
    {
        return (Lane::sum(vectors) + rest) / static_cast<float>(channels);
    }
};

/// `x`: so many rows, of.at.stored apart.
template <bool is_shifted, int rows>
[[gnu::always_inline]] inline void forward(const Norm& of, Dim position, float* x)
{
    const Dim channels = of.at.channels, apart = of.at.stored;
    Sum sums[rows], squares[rows];
    float mean[rows] = {}, inverse[rows];
    if constexpr (is_shifted) {
        for_channels(
            channels, [&](Dim c, auto& number) __attribute__((always_inline)) {
                for (int r = 0; r < rows; ++r) {
                    load(x + r * apart + c, number);
                    sums[r].add(number);
                }
            });
        for (int r = 0; r < rows; ++r) mean[r] = of.mean[position + r] = sums[r].over(channels);
    }
    for_channels(
        channels, [&](Dim c, auto& number) __attribute__((always_inline)) {
            for (int r = 0; r < rows; ++r) {
                load(x + r * apart + c, number);
                number -= mean[r];
                squares[r].add(number * number);
            }
        });
    for (int r = 0; r < rows; ++r)
        inverse[r] = of.inverse[position + r] = 1 / std::sqrt(squares[r].over(channels) + of.epsilon);
    for_channels(
        channels, [&](Dim c, auto& number) __attribute__((always_inline)) {
            std::remove_cvref_t<decltype(number)> scale{}, shift{};
            load(of.scale + c, scale);
            if constexpr (is_shifted) load(of.shift + c, shift);
            for (int r = 0; r < rows; ++r) {
                load(x + r * apart + c, number);
                number = (number - mean[r]) * inverse[r] * scale + shift;
                __builtin_memcpy(x + r * apart + c, &number, sizeof number);
            }
        });
}

template <bool is_shifted, int rows>
[[gnu::always_inline]] inline void backward(const Norm& of, Dim position, float* x, const float* given)
{
    const Dim channels = of.at.channels, apart = of.at.stored;
    float mean[rows] = {};
    for (int r = 0; is_shifted && r < rows; ++r) mean[r] = of.mean[position + r];
    const float* const inverse = of.inverse + position;
    Sum sums[rows], products[rows];
    for_channels(
        channels, [&](Dim c, auto& number) __attribute__((always_inline)) {
            auto scale = number, to_shift = number, to_scale = number, gradient = number;
            load(of.scale + c, scale);
            load(of.sums + c, to_shift);
            load(of.sums + channels + c, to_scale);
            for (int r = 0; r < rows; ++r) {
                load(x + r * apart + c, number);
                load(given + r * apart + c, gradient);
                number = (number - mean[r]) * inverse[r];
                to_shift += gradient;
                to_scale += gradient * number;
                sums[r].add(gradient * scale);
                products[r].add(gradient * scale * number);
            }
            __builtin_memcpy(of.sums + c, &to_shift, sizeof to_shift);
            __builtin_memcpy(of.sums + channels + c, &to_scale, sizeof to_scale);
        });
    float sum[rows], product[rows];
    for (int r = 0; r < rows; ++r) {
        sum[r] = is_shifted ? sums[r].over(channels) : 0;
        product[r] = products[r].over(channels);
    }
    for_channels(
        channels, [&](Dim c, auto& number) __attribute__((always_inline)) {
            auto scale = number, gradient = number;
            load(of.scale + c, scale);
            for (int r = 0; r < rows; ++r) {
                load(x + r * apart + c, number);
                load(given + r * apart + c, gradient);
                number = (number - mean[r]) * inverse[r];
                number = inverse[r] * (gradient * scale - sum[r] - number * product[r]);
                __builtin_memcpy(x + r * apart + c, &number, sizeof number);
            }
        });
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
        Dim position = first;
        for (; position + sums_at_once <= positions.end; position += sums_at_once) {
            const Dim row = (position - first) * stored;
            is_backward ? backward<is_shifted, sums_at_once>(of, position, of.rows + row, given + row)
                        : forward<is_shifted, sums_at_once>(of, position, of.rows + row);
        }
        for (; position < positions.end; ++position) {
            const Dim row = (position - first) * stored;
            is_backward ? backward<is_shifted, 1>(of, position, of.rows + row, given + row)
                        : forward<is_shifted, 1>(of, position, of.rows + row);
        }
        write_channels<Element>(of.at, of.rows, stored, positions, {0, stored}, is_backward ? of.dx : of.y);
    }
}

[[gnu::target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")]] void run_positions(const Norm& of, Dim begin,
                                                                                         Dim end)
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
Dim run(const Norm& of, float* numbers)
{
    const Dim each = numbers_each(of.at);
    Dim all = 1;
    for_parts(of.at.rows(), [&](Dim thread, Dim begin, Dim end) {
        if (thread == 0) all = omp_get_num_threads();
        Norm own = of;
        own.rows = numbers + thread * each;
        own.sums = own.rows + numbers_of_rows(of.at);
        std::fill_n(own.rows, each, 0.0F);
        run_positions(own, begin, end);
    });
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
                 .scale = scale.data(),
                 .shift = shift.data(),
                 .mean = mean.data(),
                 .inverse = inverse.data()},
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
                                     .x = x.elements(),
                                     .y = given.elements(),
                                     .dx = dx.elements(),
                                     .scale = scale.data(),
                                     .mean = mean.data(),
                                     .inverse = inverse.data()},
                                    numbers.data());
            add_sums(at, numbers.data(), threads, to_shift.data(), to_scale.data());
        },
        {x, given, scale, to_scale, to_shift, mean, inverse, dx, numbers}, "roof:layer_norm");
}

}  // namespace roof::onednn
