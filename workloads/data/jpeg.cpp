// Each call makes its own decompressor: it takes microseconds, decoding milliseconds.
#include "workloads/data/jpeg.hpp"

#include "ert/base/error.hpp"
#include "ert/base/files.hpp"

#include <turbojpeg.h>
#include <algorithm>
#include <array>
#include <cmath>
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

// The parameters of a crop are torchvision's defaults, which published ImageNet training uses.

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

constexpr std::array<float, 3> mean{0.485F, 0.456F, 0.406F};
constexpr std::array<float, 3> deviation{0.229F, 0.224F, 0.225F};

/// The input positions and weights of one output position.
struct Blend {
    int first = 0;
    std::vector<float> weights;  ///< sum to 1
};

/// Weights form a triangle as wide as one output pixel, and at least as wide as one input pixel.
Blend blend_around(double centre, double support, int from)
{
    const int first = std::max(0, static_cast<int>(std::floor(centre - support)));
    const int last = std::min(from - 1, static_cast<int>(std::ceil(centre + support)));
    Blend blend{first, {}};
    float sum = 0;
    for (int place = first; place <= last; ++place) {
        const double distance = std::abs(place + 0.5 - centre) / support;
        blend.weights.push_back(static_cast<float>(std::max(0.0, 1 - distance)));
        sum += blend.weights.back();
    }
    for (float& weight : blend.weights) weight /= sum;
    return blend;
}

std::vector<Blend> blends(int from, int to)
{
    const double scale = 1.0 * from / to;
    std::vector<Blend> all;
    for (int place = 0; place < to; ++place)
        all.push_back(blend_around((place + 0.5) * scale, std::max(1.0, scale), from));
    return all;
}

/// Returns three planes of [crop.height][columns.size()].
std::vector<float> resize_rows(const RgbImage& image, const Crop& crop, const std::vector<Blend>& columns)
{
    const std::size_t plane = columns.size() * static_cast<std::size_t>(crop.height);
    std::vector<float> rows(3 * plane);
    for (int y = 0; y < crop.height; ++y) {
        const unsigned char* row = &image.pixels[3 * (1UL * (crop.top + y) * image.width + crop.left)];
        float* out = &rows[1UL * y * columns.size()];
        for (const Blend& blend : columns) {
            const unsigned char* pixel = row + 3L * blend.first;
            std::array<float, 3> sum{};
            for (const float weight : blend.weights) {
                for (std::size_t c = 0; c < 3; ++c) sum[c] += weight * pixel[c];
                pixel += 3;
            }
            for (std::size_t c = 0; c < 3; ++c) out[c * plane] = sum[c];
            ++out;
        }
    }
    return rows;
}

void blend_rows(const float* rows, const Blend& blend, std::span<float> out)
{
    std::fill(out.begin(), out.end(), 0.0F);
    const float* row = rows + blend.first * out.size();
    for (const float weight : blend.weights) {
        for (std::size_t x = 0; x < out.size(); ++x) out[x] += weight * row[x];
        row += out.size();
    }
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
    for (const int reduction : {8, 4, 2})
        if (crop.width >= reduction * width && crop.height >= reduction * height) return reduction;
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

// The filter is separable: rows are resized in width, then blended. A flip reverses the order of the column weights.
void resize_normalised(const RgbImage& image, const Crop& crop, int width, int height, std::span<float> planes)
{
    std::vector<Blend> columns = blends(crop.width, width);
    if (crop.flipped) std::reverse(columns.begin(), columns.end());
    const std::vector<Blend> lines = blends(crop.height, height);
    const std::vector<float> rows = resize_rows(image, crop, columns);

    const std::size_t line_length = columns.size();
    float* out = planes.data();
    for (std::size_t c = 0; c < 3; ++c) {
        const float* plane = &rows[c * line_length * static_cast<std::size_t>(crop.height)];
        const float scale = 1 / (255 * deviation[c]);
        const float offset = mean[c] / deviation[c];
        for (const Blend& line : lines) {
            const std::span<float> target(out, line_length);
            blend_rows(plane, line, target);
            for (float& value : target) value = value * scale - offset;
            out += line_length;
        }
    }
}

}  // namespace roof::data
