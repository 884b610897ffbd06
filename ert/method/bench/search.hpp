// Finds the fastest of several variants by trials, and the number of repetitions for work that is too short to time once.
#pragma once

#include "ert/method/bench/clock.hpp"

#include <cstddef>
#include <functional>

namespace roof {

/// The index of the candidate with the least cost; the first of equals. `cost(i)` is called `turns` times for each candidate, in
/// rotation so that a disturbance affects all of them; the least value counts. Both numbers are at least 1.
std::size_t cheapest(std::size_t candidates, int turns, const std::function<double(std::size_t candidate)>& cost);

/// The number of repetitions, at least 1, that takes about `target`. `work(n)` does n repetitions; n doubles until a
/// call takes a quarter of the target.
std::size_t repetitions_for(Seconds target, const std::function<void(std::size_t)>& work, const Clock& clock);

}  // namespace roof
