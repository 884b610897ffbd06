// The alpha-beta model of an all-reduce: a message costs a latency (alpha) and its bytes over a bandwidth (beta).
#pragma once

#include "analysis/estimate/machine_sheet.hpp"

namespace roof::analysis {

/// A ring of N devices takes 2(N-1) steps, in each of which every device sends 1/N of the bytes to its neighbour:
///   2(N-1) alpha  +  2(N-1)/N * bytes / beta.   One device needs nothing.
Seconds ring_all_reduce(Bytes bytes, int devices, const Link& link);

}  // namespace roof::analysis
