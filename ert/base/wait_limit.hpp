// How long one part of a program waits for others that may never come: ranks, or GPUs that sum.
#pragma once

#include "ert/base/error.hpp"
#include "ert/base/text.hpp"
#include "ert/base/units.hpp"

#include <cmath>
#include <cstdlib>
#include <string>

namespace roof {

/// Rank 0 gives up first, because it writes the row. ROOF_RANK_TIMEOUT replaces the 300 seconds.
inline Seconds wait_limit(int rank = 0)
{
    constexpr double usual = 300;
    const char* const text = std::getenv("ROOF_RANK_TIMEOUT");
    const double seconds = parse_number<double>(text == nullptr ? "" : text).value_or(usual);
    return Seconds{rank == 0 ? seconds : 2 * seconds + 60};
}

/// "rank 0 waited 300 s for rank 1: the start of NCCL"; `what` may be empty.
[[noreturn]] inline void give_up(const std::string& who, Seconds limit, const std::string& for_whom,
                                 const std::string& what)
{
    throw Error(who + " waited " + std::to_string(std::lround(limit.value)) + " s for " + for_whom +
                (what.empty() ? what : ": " + what));
}

}  // namespace roof
