// Each call makes its own decompressor: it takes microseconds, decoding milliseconds.
#include "workloads/data/jpeg.hpp"

#include "ert/base/error.hpp"
#include "ert/base/files.hpp"

#include <turbojpeg.h>
#include <memory>

namespace roof::data {
namespace {

/// Larger headers are refused: a few bytes can declare 65500 x 65500 pixels. A progressive file of this size takes 400
/// MB.
constexpr long long most_pixels = 40'000'000;

struct Destroy {
    void operator()(void* decompressor) const { tjDestroy(decompressor); }
};
using Decompressor = std::unique_ptr<void, Destroy>;

std::vector<unsigned char> read_bytes(const std::filesystem::path& file)
{
    const std::string bytes = read_file(file);
    if (bytes.empty()) throw Error("is empty");
    return {bytes.begin(), bytes.end()};
}

void check(const Decompressor& decompressor, int status)
{
    if (status != 0) throw Error(tjGetErrorStr2(decompressor.get()));
}

/// Converts CMYK as Adobe stores it: 255 means no ink.
std::vector<unsigned char> rgb_of_inks(const std::vector<unsigned char>& inks)
{
    std::vector<unsigned char> pixels(inks.size() / 4 * 3);
    for (std::size_t pixel = 0; pixel < inks.size() / 4; ++pixel) {
        const int black = inks[4 * pixel + 3];
        for (std::size_t c = 0; c < 3; ++c)
            pixels[3 * pixel + c] = static_cast<unsigned char>((inks[4 * pixel + c] * black + 127) / 255);
    }
    return pixels;
}

}  // namespace

Jpeg::Jpeg(const std::filesystem::path& file) : bytes_(read_bytes(file))
{
    const Decompressor decompressor(tjInitDecompress());
    int subsampling = 0;
    int colours = 0;
    check(decompressor, tjDecompressHeader3(decompressor.get(), bytes_.data(), bytes_.size(), &width_, &height_,
                                            &subsampling, &colours));
    if (1LL * width_ * height_ > most_pixels)
        throw Error("is too large: " + std::to_string(width_) + "x" + std::to_string(height_));
    four_inks_ = colours == TJCS_CMYK || colours == TJCS_YCCK;
}

RgbImage Jpeg::decode(int reduction) const
{
    const tjscalingfactor scale{1, reduction};
    const int channels = four_inks_ ? 4 : 3;
    RgbImage image{TJSCALED(width_, scale), TJSCALED(height_, scale), {}};
    image.pixels.resize(static_cast<std::size_t>(1LL * image.width * image.height * channels));

    const Decompressor decompressor(tjInitDecompress());
    check(decompressor,
          tjDecompress2(decompressor.get(), bytes_.data(), bytes_.size(), image.pixels.data(), image.width, 0,
                        image.height, four_inks_ ? TJPF_CMYK : TJPF_RGB, TJFLAG_LIMITSCANS));
    if (four_inks_) image.pixels = rgb_of_inks(image.pixels);
    return image;
}

}  // namespace roof::data
