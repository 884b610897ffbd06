// Time as a parameter: the loop and the subjects read the clock they are given; tests use a manual one.
#pragma once

#include "ert/base/error.hpp"
#include "ert/base/units.hpp"

#include <chrono>
#include <functional>

namespace roof {

/// Seconds since an arbitrary moment; monotonic.
using Clock = std::function<Seconds()>;

/// The machine's monotonic clock. A reading throws Error if the clock did not advance before the first one.
inline Clock steady_clock()
{
    using Time = std::chrono::steady_clock;
    return [] {
        static const bool is_usable = [begin = Time::now()] {  // it advances within a second or more
            for (int reading = 0; reading < 20'000'000; ++reading)
                if (Time::now() != begin) return true;
            return false;
        }();
        if (!is_usable) throw Error("the system's monotonic clock does not advance, so nothing can be timed");
        return Seconds{std::chrono::duration<double>(Time::now().time_since_epoch()).count()};
    };
}

}  // namespace roof
