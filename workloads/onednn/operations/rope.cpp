// Rotary positions, in the layout that the source has. A thread copies the channels of positions into rows of fp32
// numbers, turns them there, and copies them back.
#include "workloads/kernels/parallel.hpp"
#include "workloads/onednn/operations/positions.hpp"

#include <bit>

namespace roof::onednn {
namespace {

/// Positions that a thread copies at once.
constexpr Dim rows_at_once = 32;

struct Turned {
    Positions at;
    Elements source, result;
    const float *cosines, *sines;  ///< of a position `half`
    Dim heads, half;
    float sign;
};

template <class Element>
[[gnu::always_inline]] inline void turn_in(const Turned& of, Dim begin, Dim end, float* rows)
{
    const Dim stored = of.at.stored, half = of.half;
    for (Dim first = begin; first < end; first += rows_at_once) {
        const DimRange positions{first, std::min(end, first + rows_at_once)};
        read_channels<Element>(of.at, of.source, positions, {0, of.at.channels}, rows, stored);
        for (Dim position = first; position < positions.end; ++position) {
            const float* const cosines = of.cosines + position % of.at.of_image * half;
            const float* const sines = of.sines + position % of.at.of_image * half;
            float* x = rows + (position - first) * stored;
            for (Dim head = 0; head < of.heads; ++head, x += 2 * half) {
                float* const y = x + half;
#pragma omp simd
                for (Dim c = 0; c < half; ++c) {
                    const float left = x[c], right = y[c], sine = of.sign * sines[c];
                    x[c] = left * cosines[c] - right * sine;
                    y[c] = right * cosines[c] + left * sine;
                }
            }
        }
        write_channels<Element>(of.at, rows, stored, positions, {0, stored}, of.result);
    }
}

[[gnu::target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")]] void turn(const Turned& of, Dim begin, Dim end,
                                                                                float* rows)
{
    of.source.precision == Precision::bf16 ? turn_in<BFloat16>(of, begin, end, rows)
                                           : turn_in<float>(of, begin, end, rows);
}

}  // namespace

void bind(Binding& to, const ir::Turn& operation)
{
    const Tensor source = read_by_position(to, operation.source);
    const Tensor result = to.write(operation.result, source.desc());
    const Positions at = positions_of(source.desc());
    const Dim of_thread = rows_at_once * at.stored;
    const Tensor rows = to.program.tensor(plain(Dims{to.settings.threads, of_thread}));
    std::vector<float> angles;
    for (const std::int32_t bits : to.list.numbers_of(operation.angles)) angles.push_back(std::bit_cast<float>(bits));
    to.program.append(
        [=, angles = std::move(angles), heads = Dim{operation.heads}, half = Dim{operation.angles.channels},
         sign = operation.back ? -1.0F : 1.0F] {
            const float* const cosines = angles.data();
            const Turned of{
                at, source.elements(), result.elements(), cosines, cosines + angles.size() / 2, heads, half, sign};
            for_parts(at.rows(), [&](Dim thread, Dim begin, Dim end) {
                float* const own = rows.data() + thread * of_thread;
                std::fill_n(own, of_thread, 0.0F);
                turn(of, begin, end, own);
            });
        },
        {source, result, rows}, "roof:rope");
}

}  // namespace roof::onednn
