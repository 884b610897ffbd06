// One JPEG file, decoded with libjpeg-turbo.
#pragma once

#include <filesystem>
#include <vector>

namespace roof::data {

/// Rows of red, green, blue bytes.
struct RgbImage {
    int width = 0;
    int height = 0;
    std::vector<unsigned char> pixels;
};

class Jpeg {
  public:
    /// Reads the file and its header. Throws Error with the reason, without the file's name: no file, no JPEG, too
    /// large.
    explicit Jpeg(const std::filesystem::path& file);

    int width() const { return width_; }
    int height() const { return height_; }

    /// Decodes at 1/reduction of the size (rounded up), reduction being 1, 2, 4 or 8. Grey and CMYK become RGB. Throws
    /// Error for damage of any kind, also where the library would go on with a warning: a truncated file is broken.
    RgbImage decode(int reduction) const;

  private:
    std::vector<unsigned char> bytes_;
    int width_ = 0;
    int height_ = 0;
    bool four_inks_ = false;
};

}  // namespace roof::data
