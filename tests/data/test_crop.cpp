// The crops that torchvision's parameters allow, and the reduction of a file while decoding.
#include "workloads/data/jpeg.hpp"

#include <catch2/catch.hpp>
#include <cmath>

using namespace roof::data;

TEST_CASE("random crops are inside the image, have torchvision's areas and ratios, and are flipped half the time")
{
    std::mt19937_64 random(1);
    constexpr int width = 500, height = 375, draws = 4000;
    double least_area = 1, most_area = 0, least_ratio = 9, most_ratio = 0;
    int flipped = 0;
    for (int draw = 0; draw < draws; ++draw) {
        const Crop crop = random_crop(width, height, random);
        REQUIRE(crop.left >= 0);
        REQUIRE(crop.top >= 0);
        REQUIRE(crop.left + crop.width <= width);
        REQUIRE(crop.top + crop.height <= height);
        const double area = 1.0 * crop.width * crop.height / (width * height);
        const double ratio = 1.0 * crop.width / crop.height;
        least_area = std::min(least_area, area);
        most_area = std::max(most_area, area);
        least_ratio = std::min(least_ratio, ratio);
        most_ratio = std::max(most_ratio, ratio);
        flipped += crop.flipped ? 1 : 0;
    }
    CHECK(least_area == Approx(0.08).margin(0.01));
    CHECK(most_area > 0.9);
    CHECK(least_ratio == Approx(0.75).margin(0.02));
    CHECK(most_ratio == Approx(1.333).margin(0.02));
    CHECK(flipped == Approx(draws / 2).margin(200));
}

TEST_CASE("random crops reach every edge of the image")
{
    std::mt19937_64 random(2);
    bool left = false, top = false, right = false, bottom = false;
    for (int draw = 0; draw < 2000; ++draw) {
        const Crop crop = random_crop(40, 30, random);
        left = left || crop.left == 0;
        top = top || crop.top == 0;
        right = right || crop.left + crop.width == 40;
        bottom = bottom || crop.top + crop.height == 30;
    }
    CHECK((left && top && right && bottom));
}

TEST_CASE("an image too long for any crop gives the largest centred crop of an allowed ratio")
{
    std::mt19937_64 random(3);
    const Crop wide = random_crop(3000, 30, random);
    CHECK(wide.height == 30);
    CHECK(wide.width == 40);
    CHECK(wide.left == 1480);
    const Crop tall = random_crop(30, 3000, random);
    CHECK(tall.width == 30);
    CHECK(tall.height == 40);
    CHECK(tall.top == 1480);
    const Crop pixel = random_crop(1, 1, random);
    CHECK((pixel.width == 1 && pixel.height == 1));
}

TEST_CASE("decoding shrinks an image only as far as the crop stays at least as large as the result")
{
    CHECK(reduction_for({.width = 447, .height = 500}, 224, 224) == 1);
    CHECK(reduction_for({.width = 448, .height = 500}, 224, 224) == 2);
    CHECK(reduction_for({.width = 896, .height = 896}, 224, 224) == 4);
    CHECK(reduction_for({.width = 5000, .height = 1791}, 224, 224) == 4);
    CHECK(reduction_for({.width = 5000, .height = 1792}, 224, 224) == 8);
    CHECK(reduction_for({.width = 10, .height = 10}, 224, 224) == 1);

    const Crop small = reduced({.left = 101, .top = 9, .width = 899, .height = 600, .flipped = true}, 2, 500, 305);
    CHECK((small.left == 50 && small.top == 4 && small.width == 449 && small.height == 300 && small.flipped));
}
