#include "ert/gpu/fork.hpp"

#include "ert/gpu/check.hpp"

namespace roof::gpu {

Fork::Fork()
{
    check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming));
}

Fork::~Fork()
{
    log_failure(cudaEventDestroy(event_));
}

void Fork::order(cudaStream_t first, cudaStream_t then) const
{
    check(cudaEventRecord(event_, first));
    check(cudaStreamWaitEvent(then, event_, 0));
}

}  // namespace roof::gpu
