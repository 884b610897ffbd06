// Decodes one JPEG file with libjpeg-turbo.
#pragma once

#include <filesystem>
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

}  // namespace roof::data
