// A texture maps a scaled and rotated place to a value in [0, 1] that blends two colours. Noise per pixel gives the
// files the size of photographs.
#include "tools/make_images/folder.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <random>

namespace roof::make_images {
namespace {

constexpr double full_turn = 2 * std::numbers::pi;
constexpr double pixel_noise = 12;  ///< largest change of a byte

using Texture = double (*)(double x, double y);

double fraction(double value)
{
    return value - std::floor(value);
}
double wave(double phase)
{
    return 0.5 + 0.5 * std::sin(full_turn * phase);
}

double random_value(double x, double y)
{
    return fraction(std::sin(x * 127.1 + y * 311.7) * 43758.5453);
}

/// Random values at whole places, blended smoothly between them.
double value_noise(double x, double y)
{
    const double left = std::floor(x);
    const double top = std::floor(y);
    const auto smooth = [](double t) { return t * t * (3 - 2 * t); };
    const double across = smooth(x - left);
    const double down = smooth(y - top);
    const double above = std::lerp(random_value(left, top), random_value(left + 1, top), across);
    const double below = std::lerp(random_value(left, top + 1), random_value(left + 1, top + 1), across);
    return std::lerp(above, below, down);
}

constexpr std::array<Texture, 10> textures{
    [](double x, double y) { return fraction(0.2 * x + 0.05 * y); },                                       // gradient
    [](double x, double y) { return std::hypot(fraction(x) - 0.5, fraction(y) - 0.5) < 0.33 ? 1.0 : 0; },  // discs
    [](double x, double) { return fraction(x) < 0.5 ? 0.0 : 1; },                                          // stripes
    [](double x, double y) { return (fraction(x) < 0.5) == (fraction(y) < 0.5) ? 1.0 : 0; },               // checker
    value_noise,
    [](double x, double y) { return wave(std::hypot(x, y)); },                               // rings
    [](double x, double y) { return std::min(fraction(x), fraction(y)) < 0.15 ? 1.0 : 0; },  // lattice
    [](double x, double y) { return wave(8 * std::atan2(y, x) / full_turn); },               // rays
    [](double x, double y) { return wave(x + 0.15 * std::sin(full_turn * y)); },             // ripples
    [](double x, double y) { return fraction(x) + fraction(y) < 1 ? 0.0 : 1; },              // triangles
};

struct Size {
    int width;
    int height;
};
constexpr std::array<Size, 6> sizes{{{500, 375}, {375, 500}, {500, 333}, {400, 300}, {640, 480}, {320, 320}}};

using Colour = std::array<double, 3>;

/// Hues a golden section apart differ for any number of classes.
Colour colour(double hue, double light)
{
    Colour result{};
    for (std::size_t c = 0; c < 3; ++c) result[c] = 255 * light * (0.6 + 0.4 * std::cos(full_turn * (hue + c / 3.0)));
    return result;
}

}  // namespace

Picture draw(unsigned seed, int class_index, int image_index)
{
    std::seed_seq sequence{seed, static_cast<unsigned>(class_index), static_cast<unsigned>(image_index)};
    std::mt19937 random(sequence);
    const auto uniform = [&](double from, double to) { return std::uniform_real_distribution<>(from, to)(random); };

    const Size size = sizes[random() % sizes.size()];
    const Texture texture = textures[static_cast<std::size_t>(class_index) % textures.size()];
    const double hue = fraction(class_index * std::numbers::phi) + uniform(-0.05, 0.05);
    const Colour dark = colour(hue, uniform(0.2, 0.45));
    const Colour bright = colour(hue + uniform(0.1, 0.25), uniform(0.7, 1));
    const double angle = uniform(0, full_turn);
    const double scale = uniform(30, 80);
    const double left = uniform(0, size.width);
    const double top = uniform(0, size.height);

    Picture picture{size.width, size.height, {}};
    picture.pixels.reserve(3UL * static_cast<std::size_t>(size.width * size.height));
    std::uniform_real_distribution<> noise(-pixel_noise, pixel_noise);
    for (int y = 0; y < size.height; ++y) {
        for (int x = 0; x < size.width; ++x) {
            const double u = ((x - left) * std::cos(angle) - (y - top) * std::sin(angle)) / scale;
            const double v = ((x - left) * std::sin(angle) + (y - top) * std::cos(angle)) / scale;
            const double value = texture(u, v);
            for (std::size_t c = 0; c < 3; ++c) {
                const double byte = std::lerp(dark[c], bright[c], value) + noise(random);
                picture.pixels.push_back(static_cast<unsigned char>(std::clamp(byte, 0.0, 255.0)));
            }
        }
    }
    return picture;
}

}  // namespace roof::make_images
