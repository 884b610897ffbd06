// What a training image is cut from: torchvision's RandomResizedCrop and RandomHorizontalFlip.
#pragma once

#include <random>

namespace roof::data {

struct Crop {
    int left = 0;
    int top = 0;
    int width = 0;
    int height = 0;
    bool flipped = false;  ///< left and right change places
};

/// Area 0.08 to 1 of the image, aspect ratio 3/4 to 4/3; after ten tries that do not fit, the largest centred crop
/// whose ratio lies in that range. Flipped every other time.
Crop random_crop(int image_width, int image_height, std::mt19937_64& random);

/// 1, 2, 4 or 8: the most an image can shrink while decoding with the crop still at least `width` x `height`. Those
/// four are the scales libjpeg-turbo has fast code for.
int reduction_for(const Crop& crop, int width, int height);

/// The same crop of the image shrunk by `reduction` to `image_width` x `image_height`.
Crop reduced(const Crop& crop, int reduction, int image_width, int image_height);

}  // namespace roof::data
