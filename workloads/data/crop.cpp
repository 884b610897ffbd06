// The parameters are torchvision's defaults, which published ImageNet training uses.
#include "workloads/data/crop.hpp"

#include <algorithm>
#include <cmath>

namespace roof::data {
namespace {

constexpr double least_area = 0.08;
constexpr double least_ratio = 3.0 / 4.0;
constexpr double most_ratio = 4.0 / 3.0;
constexpr int tries = 10;

double uniform(double from, double to, std::mt19937_64& random)
{
    return std::uniform_real_distribution<double>(from, to)(random);
}

int uniform_upto(int last, std::mt19937_64& random)
{
    return std::uniform_int_distribution<int>(0, last)(random);
}

Crop centred_crop(int image_width, int image_height)
{
    const double ratio = 1.0 * image_width / image_height;
    Crop crop{.width = image_width, .height = image_height};
    if (ratio < least_ratio) crop.height = static_cast<int>(std::lround(image_width / least_ratio));
    if (ratio > most_ratio) crop.width = static_cast<int>(std::lround(image_height * most_ratio));
    crop.left = (image_width - crop.width) / 2;
    crop.top = (image_height - crop.height) / 2;
    return crop;
}

Crop unflipped_crop(int image_width, int image_height, std::mt19937_64& random)
{
    for (int attempt = 0; attempt < tries; ++attempt) {
        const double area = 1.0 * image_width * image_height * uniform(least_area, 1, random);
        const double ratio = std::exp(uniform(std::log(least_ratio), std::log(most_ratio), random));
        const int width = static_cast<int>(std::lround(std::sqrt(area * ratio)));
        const int height = static_cast<int>(std::lround(std::sqrt(area / ratio)));
        if (width < 1 || width > image_width || height < 1 || height > image_height) continue;
        const int top = uniform_upto(image_height - height, random);
        const int left = uniform_upto(image_width - width, random);
        return {.left = left, .top = top, .width = width, .height = height};
    }
    return centred_crop(image_width, image_height);
}

}  // namespace

Crop random_crop(int image_width, int image_height, std::mt19937_64& random)
{
    Crop crop = unflipped_crop(image_width, image_height, random);
    crop.flipped = uniform_upto(1, random) == 1;
    return crop;
}

int reduction_for(const Crop& crop, int width, int height)
{
    for (const int reduction : {8, 4, 2}) {
        if (crop.width >= reduction * width && crop.height >= reduction * height) return reduction;
    }
    return 1;
}

Crop reduced(const Crop& crop, int reduction, int image_width, int image_height)
{
    Crop small = crop;
    small.left = crop.left / reduction;
    small.top = crop.top / reduction;
    small.width = std::min(crop.width / reduction, image_width - small.left);
    small.height = std::min(crop.height / reduction, image_height - small.top);
    return small;
}

}  // namespace roof::data
