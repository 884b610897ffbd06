// The clock of a launch from the readings of its multiprocessors.
#include "ert/gpu/clock_of.hpp"

#include <catch2/catch.hpp>

#include <vector>

using namespace roof::gpu;

namespace {

ClockReading over(unsigned long long nanoseconds, double gigahertz)
{
    return {1000, 5000, 1000 + static_cast<unsigned long long>(static_cast<double>(nanoseconds) * gigahertz),
            5000 + nanoseconds};
}

}  // namespace

TEST_CASE("The clock of a launch is the median over its multiprocessors")
{
    const std::vector<ClockReading> readings{over(4000000, 1.98), over(4000000, 1.80), over(4000000, 1.97)};
    CHECK(clock_of(readings).value == Approx(1.97e9));
}

TEST_CASE("Multiprocessors that wrote nothing, or for too short a time, do not count")
{
    std::vector<ClockReading> readings(clock_readings);
    CHECK(clock_of(readings).value == 0);
    readings[7] = over(20000, 1.2);
    CHECK(clock_of(readings).value == 0);
    readings[9] = over(100000, 1.9);
    CHECK(clock_of(readings).value == Approx(1.9e9));
}
