// Resizes a crop of bytes and normalises it to one float plane per colour.
#pragma once

#include "workloads/data/crop.hpp"
#include "workloads/data/jpeg.hpp"

#include <span>

namespace roof::data {

/// Resizes the crop of `image` to `width` x `height`: bilinear, and averaged over the covered area when it shrinks, as
/// in Pillow. Writes (value / 255 - mean) / deviation, with ImageNet's mean and deviation per colour, to `planes`
/// [3][height][width].
void resize_normalised(const RgbImage& image, const Crop& crop, int width, int height, std::span<float> planes);

}  // namespace roof::data
