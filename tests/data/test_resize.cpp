// Resizing and normalising of pictures with known results.
#include "workloads/data/jpeg.hpp"

#include <catch2/catch.hpp>

using namespace roof::data;

namespace {

RgbImage image_of(int width, int height, auto value)
{
    RgbImage image{width, height, {}};
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
            for (int c = 0; c < 3; ++c) image.pixels.push_back(static_cast<unsigned char>(value(x, y, c)));
        }
    }
    return image;
}

/// Returns the byte value that gives this normalised value for colour c.
double byte_of(float normalised, int c)
{
    constexpr double mean[] = {0.485, 0.456, 0.406};
    constexpr double deviation[] = {0.229, 0.224, 0.225};
    return (normalised * deviation[c] + mean[c]) * 255;
}

std::vector<float> resized(const RgbImage& image, const Crop& crop, int width, int height)
{
    std::vector<float> planes(3UL * static_cast<std::size_t>(width * height));
    resize_normalised(image, crop, width, height, planes);
    return planes;
}

}  // namespace

TEST_CASE("a plain image stays plain, with each colour in its plane and ImageNet's mean and deviation")
{
    const RgbImage image = image_of(50, 40, [](int, int, int c) { return 50 + 70 * c; });
    const std::vector<float> planes = resized(image, {.left = 3, .top = 2, .width = 31, .height = 17}, 8, 6);
    for (std::size_t i = 0; i < planes.size(); ++i) {
        const int c = static_cast<int>(i / 48);
        CHECK(byte_of(planes[i], c) == Approx(50 + 70 * c).margin(1e-3));
    }
    CHECK(planes[0] == Approx((50 / 255.0 - 0.485) / 0.229));
}

TEST_CASE("a crop resized to its own size is copied, and flipped on request")
{
    const RgbImage image = image_of(20, 10, [](int x, int y, int c) { return 10 * x + 2 * y + c; });
    const Crop crop{.left = 5, .top = 3, .width = 4, .height = 2};
    Crop flipped = crop;
    flipped.flipped = true;
    const std::vector<float> planes = resized(image, crop, 4, 2);
    const std::vector<float> mirrored = resized(image, flipped, 4, 2);
    for (int c = 0; c < 3; ++c) {
        for (int y = 0; y < 2; ++y) {
            for (int x = 0; x < 4; ++x) {
                const std::size_t at = static_cast<std::size_t>((c * 2 + y) * 4 + x);
                CHECK(byte_of(planes[at], c) == Approx(10 * (5 + x) + 2 * (3 + y) + c).margin(1e-3));
                CHECK(mirrored[at + 3 - 2 * static_cast<std::size_t>(x)] == planes[at]);
            }
        }
    }
}

TEST_CASE("enlarging interpolates linearly between pixel centres")
{
    const RgbImage image = image_of(2, 1, [](int x, int, int) { return 100 * x; });
    const std::vector<float> planes = resized(image, {.width = 2, .height = 1}, 4, 1);
    CHECK(byte_of(planes[0], 0) == Approx(0).margin(1e-3));
    CHECK(byte_of(planes[1], 0) == Approx(25).margin(1e-3));
    CHECK(byte_of(planes[2], 0) == Approx(75).margin(1e-3));
    CHECK(byte_of(planes[3], 0) == Approx(100).margin(1e-3));
}

TEST_CASE("shrinking averages over the whole area of a pixel")
{
    const RgbImage image = image_of(80, 80, [](int x, int, int) { return x % 8 == 0 ? 200 : 0; });
    const std::vector<float> planes = resized(image, {.width = 80, .height = 80}, 10, 10);
    for (std::size_t x = 1; x < 9; ++x) CHECK(byte_of(planes[50 + x], 0) == Approx(25).margin(2));
}
