// From a crop of bytes to a plane of normalised floats per colour: the last thing before the network.
#pragma once

#include "workloads/data/crop.hpp"
#include "workloads/data/jpeg.hpp"

#include <span>

namespace roof::data {

/// Resizes the crop of `image` to `width` x `height`, bilinear and, where it shrinks, averaging over all it covers (as
/// Pillow does); then (value / 255 - mean) / deviation with ImageNet's three means and deviations. `planes` is
/// [3][height][width].
void resize_normalised(const RgbImage& image, const Crop& crop, int width, int height, std::span<float> planes);

}  // namespace roof::data
