#include "workloads/parallel/account.hpp"

#include <algorithm>

namespace roof::parallel {
namespace {

/// Seconds in which at least one of the intervals was under way.
Seconds covered(std::vector<Interval> intervals)
{
    std::ranges::sort(intervals, {}, [](const Interval& interval) { return interval.begin.value; });
    Seconds sum{};
    double end = -1e300;
    for (const Interval& interval : intervals) {
        const double begin = std::max(interval.begin.value, end);
        sum += Seconds{std::max(0.0, interval.end.value - begin)};
        end = std::max(end, interval.end.value);
    }
    return sum;
}

}  // namespace

Communication communication_of(const std::vector<Interval>& transfers, const std::vector<Interval>& waits, Bytes bytes)
{
    std::vector<Interval> either = transfers;
    either.insert(either.end(), waits.begin(), waits.end());
    const Seconds exposed = covered(waits);
    return {.exposed = exposed, .hidden = covered(either) - exposed, .bytes = bytes};
}

}  // namespace roof::parallel
