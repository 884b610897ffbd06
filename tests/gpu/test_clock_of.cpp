// The clock of a launch from the readings of its multiprocessors.
#include "ert/gpu/clock_watch.hpp"

#include <catch2/catch.hpp>

#include <vector>

using namespace roof;
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
    readings[8] = {1000, 5000, 9000, 4000};  // of a timer that went back
    CHECK(clock_of(readings).value == 0);
    readings[9] = over(50000, 1.9);
    CHECK(clock_of(readings).value == Approx(1.9e9));
}

TEST_CASE("A launch at the highest clock is not held down, whatever the driver says of the second before")
{
    ClockWatch watch({1.98e9});
    for (int i = 0; i < 7; ++i) CHECK(watch.saw({1.9752e9}, true).empty());
    CHECK(watch.remarks().empty());
}

TEST_CASE("Launches below the highest clock are told, with and without a power cap")
{
    ClockWatch capped({1.98e9});
    CHECK(capped.saw({1.76e9}, true).empty());
    CHECK(capped.saw({1.68e9}, true).empty());
    CHECK(capped.saw({1.70e9}, false).empty());
    CHECK(capped.saw({1.98e9}, true).empty());
    CHECK(capped.remarks() ==
          std::vector<std::string>{
              "the clock was below 98% of 1.98 GHz in 3 of 4 launches, down to 1.68 GHz; the driver named "
              "the power cap in 2 of them"});
    ClockWatch unnamed({1.98e9});
    CHECK(unnamed.saw({1.8e9}, false).empty());
    CHECK(unnamed.remarks() ==
          std::vector<std::string>{
              "the clock was below 98% of 1.98 GHz in 1 of 1 launches, down to 1.80 GHz; the driver named "
              "no power cap"});
}

TEST_CASE("A clock above the card's highest is refused, and an unknown one says nothing")
{
    ClockWatch watch({1.98e9});
    CHECK(watch.saw({2.0398736e9}, false) == "the clock was read as above the card's highest");
    for (const double share : {1.005, 0.98}) CHECK(watch.saw({share * 1.98e9}, false).empty());
    CHECK(watch.saw({}, true).empty());
    CHECK(watch.remarks().empty());
    CHECK(ClockWatch({}).saw({2e9}, true).empty());
}

TEST_CASE("A clock at 98% of the highest is waited for no longer, one below it half a second")
{
    const auto rested = [](double hertz) {
        double all = 0;
        GpuState state;
        state.clock = {hertz};
        state.slowdowns = 4;  // the power cap
        const Seconds waited = wait_for_clock([&] { return state; }, {1000}, [&](Seconds time) { all += time.value; });
        CHECK(waited.value == Approx(all));
        return all;
    };
    CHECK(rested(980) == 0);
    CHECK(rested(0) == 0);  // not known
    CHECK(rested(979) == Approx(0.5).margin(0.011));
}
