#include "ert/method/bench/search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace roof {
namespace {

Seconds time(const std::function<void(std::size_t)>& work, std::size_t count, const Clock& clock)
{
    const Seconds before = clock();
    work(count);
    return clock() - before;
}

}  // namespace

std::size_t cheapest(std::size_t candidates, int turns, const std::function<double(std::size_t)>& cost)
{
    std::vector<double> least(candidates, std::numeric_limits<double>::infinity());
    for (int turn = 0; turn < turns; ++turn) {
        for (std::size_t i = 0; i < candidates; ++i) least[i] = std::min(least[i], cost(i));
    }
    return static_cast<std::size_t>(std::ranges::min_element(least) - least.begin());
}

/// The doubling takes about as long as the last call, which takes about a quarter of the target.
std::size_t repetitions_for(Seconds target, const std::function<void(std::size_t)>& work, const Clock& clock)
{
    constexpr double fair_share = 0.25;
    constexpr int tries = 3;
    constexpr std::size_t most = std::size_t{1} << 40;
    for (std::size_t count = 1;; count *= 2) {
        Seconds taken = time(work, count, clock);
        // A context switch lengthens any call, so several calls must confirm the time.
        for (int i = 1; i < tries && taken >= target * fair_share; ++i) {
            taken = std::min(taken, time(work, count, clock));
        }
        if (taken < target * fair_share && count < most) continue;
        return static_cast<std::size_t>(std::max(1.0, std::round(static_cast<double>(count) * (target / taken))));
    }
}

}  // namespace roof
