// The number of repetitions for work that is too short to time once.
#pragma once

#include "ert/method/bench/clock.hpp"

#include <cstddef>
#include <functional>

namespace roof::cpu {

/// The number of repetitions, at least 1, that takes about `target`. `work(n)` does n repetitions; n doubles until a
/// call takes a quarter of the target.
std::size_t repetitions_for(Seconds target, const std::function<void(std::size_t)>& work, const Clock& clock);

}  // namespace roof::cpu
