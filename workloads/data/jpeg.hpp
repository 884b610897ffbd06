// Decodes one JPEG file with libjpeg-turbo.
#pragma once

#include <filesystem>
#include <random>
#include <span>
#include <vector>

namespace roof::data {

/// Pixels row by row, three bytes each: red, green, blue.
struct RgbImage {
    int width = 0;
    int height = 0;
    std::vector<unsigned char> pixels;
};

class Jpeg {
  public:
    /// Reads file and header. Throws Error, without the file name, if the file is missing, not JPEG or too large.
    explicit Jpeg(const std::filesystem::path& file);

    int width() const { return width_; }
    int height() const { return height_; }

    /// Decodes to RGB at 1/reduction (1, 2, 4 or 8) of the size, rounded up. Throws Error for any damage, also where
    /// the library only warns (a truncated file).
    RgbImage decode(int reduction) const;

  private:
    std::vector<unsigned char> bytes_;
    int width_ = 0;
    int height_ = 0;
    bool four_inks_ = false;
};

// Random crops of training images as torchvision's RandomResizedCrop and RandomHorizontalFlip, to float planes.

struct Crop {
    int left = 0;
    int top = 0;
    int width = 0;
    int height = 0;
    bool flipped = false;  ///< mirrored left to right
};

/// Area 0.08 to 1 of the image, aspect ratio 3/4 to 4/3. If ten tries do not fit: the largest centred crop with a ratio
/// in that range. Flipped with probability 1/2.
Crop random_crop(int image_width, int image_height, std::mt19937_64& random);

/// Returns the largest reduction of 1, 2, 4 or 8, which libjpeg-turbo has, with a crop of at least that size.
int reduction_for(const Crop& crop, int width, int height);

/// Scales the crop to an image shrunk by `reduction` to `image_width` x `image_height`.
Crop reduced(const Crop& crop, int reduction, int image_width, int image_height);

/// Resizes the crop to `width` x `height`: bilinear, and averaged over the covered area when it shrinks, as Pillow.
/// Writes (value / 255 - mean) / deviation, with those of ImageNet per colour, to `planes` [3][height][width].
void resize_normalised(const RgbImage& image, const Crop& crop, int width, int height, std::span<float> planes);

}  // namespace roof::data
