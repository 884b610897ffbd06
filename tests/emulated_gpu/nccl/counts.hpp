// What the emulated NCCL counts for tests.
#pragma once

#include "ert/gpu/nccl.hpp"

namespace roof::emulated {

struct NcclCounts {
    int alive = 0;  ///< communicators
    int aborted = 0;
    int ran = 0;  ///< collectives and messages
};

inline NcclCounts counts_of(const gpu::Nccl& nccl)
{
    NcclCounts counts;
    nccl.call("roofEmulatedCounts", &counts);
    return counts;
}

}  // namespace roof::emulated
