// Finds the fastest of several variants by trials.
#pragma once

#include <cstddef>
#include <functional>

namespace roof {

/// The index of the candidate with the least cost; the first of equals. `cost(i)` is called `turns` times for each candidate, in
/// rotation so that a disturbance affects all of them; the least value counts. Both numbers are at least 1.
std::size_t cheapest(std::size_t candidates, int turns, const std::function<double(std::size_t candidate)>& cost);

}  // namespace roof
