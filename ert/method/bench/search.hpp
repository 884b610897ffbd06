// Finds the fastest of several candidates, and the number of repetitions for work that is too short to time once.
#pragma once

#include "ert/method/bench/clock.hpp"

#include <cstddef>
#include <functional>
#include <vector>

namespace roof {

/// When a search ends, if it is not decided before.
struct SearchBudget {
    Seconds time;                 ///< no turn begins after this
    std::size_t least_turns = 4;  ///< but so many are taken in any case
    std::size_t most_turns = 64;  ///< with those of earlier searches
};

/// The costs of each candidate, one for each turn from the first on. A candidate that is no longer tried lacks the last
/// turns.
using Turns = std::vector<std::vector<double>>;

struct Fastest {
    std::size_t candidate = 0;
    /// No other candidate is more than 2% faster, by each of four groups of turns.
    bool is_decided = false;
    double cost = 0;  ///< the candidate's least; infinite if none could run
    Turns turns;
};

/// Takes turns: in each, every candidate that is still tried runs once, in random order, so that a disturbance or
/// another clock affects all of them. `cost(i)` runs candidate i; infinite: it cannot run. At least one candidate.
/// `earlier`: turns of an earlier search among the same candidates, which goes on from there; else empty.
/// docs/method.md has the rules.
Fastest fastest_of(std::size_t candidates, const SearchBudget& budget,
                   const std::function<double(std::size_t candidate)>& cost, const Clock& clock, Turns earlier = {});

/// The repetitions, at least 1, of about `target`. `work(n)` does n; n doubles until it takes a quarter of that.
std::size_t repetitions_for(Seconds target, const std::function<void(std::size_t)>& work, const Clock& clock);

}  // namespace roof
