// dw[c][v][u] = sum over images and positions of dy[c][y][x] * source[c][y * stride - padding + v][x * stride - padding
// + u]; db[c] = sum of dy. For windows that oneDNN 2.6 computes channel by channel. A thread takes a block of 16
// channels. The sums of one row of the window stay in registers along a row of the map.
#include "workloads/kernels/convolution.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace roof::kernels {
namespace {

constexpr int lanes = 16;
using Lanes [[gnu::vector_size(64), gnu::aligned(4), gnu::may_alias]] = float;

/// Adds the products of one row of the result with the rows of the source that its windows read.
template <int window>
[[gnu::always_inline]] inline void add_row(const model::Convolution& of, const float* source, const float* dy, int y,
                                           Lanes (&sums)[window * window])
{
    for (int v = 0; v < window; ++v) {
        const int row = y * of.window.stride - of.window.padding + v;
        if (row < 0 || row >= of.source.height) continue;
        const float* const from = source + std::ptrdiff_t{row} * of.source.width * lanes;
        Lanes kept[window];
        for (std::size_t u = 0; u < window; ++u) kept[u] = sums[static_cast<std::size_t>(v * window) + u];
        for (int x = 0; x < of.result.width; ++x) {
            const Lanes given = *reinterpret_cast<const Lanes*>(dy + std::ptrdiff_t{x} * lanes);
            const int begin = x * of.window.stride - of.window.padding;
            const auto* const at = reinterpret_cast<const Lanes*>(from + std::ptrdiff_t{begin} * lanes);
            if (begin >= 0 && begin + window <= of.source.width) {
                for (int u = 0; u < window; ++u) kept[static_cast<std::size_t>(u)] += given * at[u];
            } else {
                for (int u = std::max(0, -begin); u < std::min(window, of.source.width - begin); ++u)
                    kept[static_cast<std::size_t>(u)] += given * at[u];
            }
        }
        for (std::size_t u = 0; u < window; ++u) sums[static_cast<std::size_t>(v * window) + u] = kept[u];
    }
}

template <int window>
[[gnu::always_inline]] inline void block(const model::Convolution& of, int number, const float* source, const float* dy,
                                         float* dw, float* db)
{
    const int blocks = (of.groups + lanes - 1) / lanes;
    Lanes sums[window * window]{};
    Lanes bias{};
    for (int n = 0; n < of.batch; ++n) {
        const std::ptrdiff_t map = std::ptrdiff_t{n} * blocks + number;
        const float* const from = source + map * of.source.height * of.source.width * lanes;
        const float* const given = dy + map * of.result.height * of.result.width * lanes;
        for (int y = 0; y < of.result.height; ++y)
            add_row<window>(of, from, given + std::ptrdiff_t{y} * of.result.width * lanes, y, sums);
        for (int p = 0; db != nullptr && p < of.result.height * of.result.width; ++p)
            bias += *reinterpret_cast<const Lanes*>(given + std::ptrdiff_t{p} * lanes);
    }
    auto* const to = reinterpret_cast<Lanes*>(dw + std::ptrdiff_t{number} * window * window * lanes);
    for (std::size_t k = 0; k < std::size(sums); ++k) to[k] = sums[k];
    for (int lane = 0; db != nullptr && lane < std::min(lanes, of.groups - number * lanes); ++lane)
        db[number * lanes + lane] = bias[lane];
}

[[gnu::target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")]] void run_block(const model::Convolution& of,
                                                                                     int number, const float* source,
                                                                                     const float* dy, float* dw,
                                                                                     float* db)
{
    if (of.window.size == 3) return block<3>(of, number, source, dy, dw, db);
    if (of.window.size == 5) return block<5>(of, number, source, dy, dw, db);
    block<7>(of, number, source, dy, dw, db);
}

}  // namespace

ConvolutionPlan plan_depthwise_gradient(const ConvolutionPass& pass)
{
    return {.name = "roof:depthwise", .run = [pass](const ConvolutionOperands& of) {
                const int blocks = (pass.groups + lanes - 1) / lanes;
#pragma omp parallel for schedule(dynamic)
                for (int number = 0; number < blocks; ++number)
                    run_block(pass, number, of.source.as<float>(), of.result.as<float>(), of.weights, of.bias);
            }};
}

}  // namespace roof::kernels
