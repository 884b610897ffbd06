#include "analysis/estimate/all_reduce.hpp"

namespace roof::analysis {

Seconds ring_all_reduce(Bytes bytes, int devices, const Link& link)
{
    const double steps = 2.0 * (devices - 1);
    return steps * link.latency + (bytes * (steps / devices)) / link.bandwidth;
}

}  // namespace roof::analysis
