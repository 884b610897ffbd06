// The gradient of a depthwise convolution's weights, for windows that oneDNN 2.6 computes channel by channel.
#pragma once

namespace roof::kernels {

/// Channels are multiples of 16 in memory: maps [image][channels / 16][height][width][16], weights [channels / 16][window]
/// [window][16].
struct DepthwiseShape {
    int batch = 1;
    int channels = 16;
    int height = 1, width = 1;  ///< of the source
    int result_height = 1, result_width = 1;
    int window = 3;
    int stride = 1;
    int padding = 0;
};

/// True for windows of 3, 5 and 7.
bool has_depthwise_gradient(int window);

/// dw[c][v][u] = sum over images and positions of dy[c][y][x] * source[c][y * stride - padding + v][x * stride - padding + u];
/// db[c] = sum of dy, unless `db` is null.
void depthwise_backward_weights(const DepthwiseShape& shape, const float* source, const float* dy, float* dw,
                                float* db);

}  // namespace roof::kernels
