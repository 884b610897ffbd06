// The gradient of a depthwise convolution's weights, for windows that oneDNN 2.6 computes channel by channel.
#pragma once

#include "workloads/model/convolution.hpp"

namespace roof::kernels {

/// True for windows of 3, 5 and 7.
bool has_depthwise_gradient(int window);

/// dw[c][v][u] = sum over images and positions of dy[c][y][x] * source[c][y * stride - padding + v][x * stride - padding + u];
/// db[c] = sum of dy, unless `db` is null.
/// `shape`: of as many groups as channels, whose multiples of 16 are in memory: maps [image][channels / 16][height][width][16],
/// weights [channels / 16][window][window][16].
void depthwise_backward_weights(const model::Convolution& shape, const float* source, const float* dy, float* dw,
                                float* db);

}  // namespace roof::kernels
