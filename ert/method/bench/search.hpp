// A search among a handful of ways to do the same work: what is fastest on this machine is found, not assumed.
#pragma once

#include <cstddef>
#include <functional>

namespace roof {

/// The candidate, from 0, with the least cost; the first of equals. `cost(i)` is asked `opinions` times for each, in turns,
/// so that a disturbance meets all of them, and the least of its answers counts. Both numbers at least 1.
std::size_t cheapest(std::size_t candidates, int opinions, const std::function<double(std::size_t candidate)>& cost);

}  // namespace roof
