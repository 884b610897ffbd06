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
    /// Reads the file and its header. Throws Error if the file is missing, is not JPEG, or is too large. The message
    /// does not contain the file name.
    explicit Jpeg(const std::filesystem::path& file);

    int width() const { return width_; }
    int height() const { return height_; }

    /// Decodes at 1/reduction of the size, rounded up; reduction is 1, 2, 4 or 8. Grey and CMYK become RGB. Throws
    /// Error for any damage, also where the library only warns (a truncated file).
    RgbImage decode(int reduction) const;

  private:
    std::vector<unsigned char> bytes_;
    int width_ = 0;
    int height_ = 0;
    bool four_inks_ = false;
};

}  // namespace roof::data
