#include "workloads/engine/activations.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

TEST_CASE("the exponential in fp32 is within two units in the last place of the C library's in double")
{
    const float infinity = std::numeric_limits<float>::infinity();
    double worst = 0;
    for (float x = -87; x < 88; x += 1.0F / (1 << 13)) {
        const auto right = std::exp(static_cast<double>(x));
        const auto rounded = static_cast<float>(right);
        const double unit = static_cast<double>(std::nextafter(rounded, infinity)) - static_cast<double>(rounded);
        worst = std::max(worst, std::abs(static_cast<double>(roof::engine::exponential(x)) - right) / unit);
    }
    CHECK(worst <= 2);
    CHECK(worst > 0.4);  // the test sees differences
}
