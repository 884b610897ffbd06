#include "ert/method/bench/search.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace roof {

std::size_t cheapest(std::size_t candidates, int turns, const std::function<double(std::size_t)>& cost)
{
    std::vector<double> least(candidates, std::numeric_limits<double>::infinity());
    for (int turn = 0; turn < turns; ++turn) {
        for (std::size_t i = 0; i < candidates; ++i) least[i] = std::min(least[i], cost(i));
    }
    return static_cast<std::size_t>(std::ranges::min_element(least) - least.begin());
}

}  // namespace roof
