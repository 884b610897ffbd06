// How often to repeat a piece of work that is too short to time.
#pragma once

#include "ert/method/bench/clock.hpp"

#include <cstddef>
#include <functional>

namespace roof::cpu {

/// The number of repetitions, at least 1, that take about `target`. `work(n)` does n of them; it is called with doubled n
/// until a call takes a fair share of the target.
std::size_t repetitions_for(Seconds target, const std::function<void(std::size_t)>& work, const Clock& clock);

}  // namespace roof::cpu
