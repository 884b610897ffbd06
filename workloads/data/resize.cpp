// The filter is separable: rows are resized in width, then blended. A flip reverses the order of the column weights.
#include "workloads/data/resize.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace roof::data {
namespace {

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
    for (int place = 0; place < to; ++place) {
        all.push_back(blend_around((place + 0.5) * scale, std::max(1.0, scale), from));
    }
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
            const unsigned char* pixel = row + 3 * blend.first;
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
