#include "ert/method/bench/clock.hpp"

#include "ert/base/error.hpp"

#include <chrono>

namespace roof {
namespace {

using Time = std::chrono::steady_clock;

/// Whether the clock advances within some ten million readings, a second or more.
bool advances()
{
    const Time::time_point begin = Time::now();
    for (int reading = 0; reading < 20'000'000; ++reading)
        if (Time::now() != begin) return true;
    return false;
}

}  // namespace

Clock steady_clock()
{
    return [] {
        static const bool is_usable = advances();
        if (!is_usable) throw Error("the system's monotonic clock does not advance, so nothing can be timed");
        const auto since = Time::now().time_since_epoch();
        return Seconds{std::chrono::duration<double>(since).count()};
    };
}

}  // namespace roof
