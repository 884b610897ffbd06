#include "ert/method/bench/trace.hpp"

#include <algorithm>

namespace roof {

void Trace::reset()
{
    std::ranges::fill(seconds_, Seconds{});
    data_ = {};
    loss_.reset();
    took_.reset();
    clock_rate_ = {};
    conditions_ = {};
    communication_ = {};
    disturbance_.clear();
}

}  // namespace roof
