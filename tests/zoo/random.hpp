// Random numbers that are the same with every compiler and library: the standard fixes its engines but not its
// distributions.
#pragma once

#include "tests/zoo/limits.hpp"

#include <cmath>
#include <cstdint>
#include <numbers>

namespace roof::zoo {

class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    /// splitmix64, by Steele, Lea and Flood (2014).
    std::uint64_t bits()
    {
        state_ += 0x9e3779b97f4a7c15;
        std::uint64_t z = state_;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return z ^ (z >> 31);
    }
    /// In [0, 1).
    double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
    double within(const Range& range) { return range.low + (range.high - range.low) * uniform(); }
    /// Evenly in the logarithm; both ends above 0.
    double ratio(const Range& range) { return range.low * std::exp(std::log(range.high / range.low) * uniform()); }
    bool chance(double share) { return uniform() < share; }
    double exponential(double mean) { return -mean * std::log1p(-uniform()); }
    /// Standard normal, by Box and Muller.
    double normal()
    {
        if (has_spare_) {
            has_spare_ = false;
            return spare_;
        }
        const double radius = std::sqrt(-2 * std::log1p(-uniform()));
        const double angle = 2 * std::numbers::pi * uniform();
        spare_ = radius * std::sin(angle);
        has_spare_ = true;
        return radius * std::cos(angle);
    }

  private:
    std::uint64_t state_;
    double spare_ = 0;
    bool has_spare_ = false;
};

}  // namespace roof::zoo
