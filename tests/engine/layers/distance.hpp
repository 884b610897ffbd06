// How far two vectors are apart, as a share of the length of the expected one.
#pragma once

#include <catch2/catch.hpp>

#include <cmath>
#include <cstddef>
#include <vector>

namespace roof {

inline double distance(const std::vector<float>& found, const std::vector<float>& due)
{
    REQUIRE(found.size() == due.size());
    double apart = 0;
    double length = 0;
    for (std::size_t i = 0; i < due.size(); ++i) {
        apart += std::pow(static_cast<double>(found[i]) - due[i], 2);
        length += std::pow(static_cast<double>(due[i]), 2);
    }
    return std::sqrt(apart / length);
}

}  // namespace roof
