#include "ert/method/bench/clock.hpp"

#include <chrono>

namespace roof {

Clock steady_clock()
{
    return [] {
        const auto since = std::chrono::steady_clock::now().time_since_epoch();
        return Seconds{std::chrono::duration<double>(since).count()};
    };
}

}  // namespace roof
