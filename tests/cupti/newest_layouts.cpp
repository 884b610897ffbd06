// The layouts that records are read with, beside the newest that CUDA 13 has: compiled where its headers are.
#include "ert/cupti/activity_log.hpp"

#include <cstddef>

namespace roof::cupti {

static_assert(offsetof(CUpti_ActivityKernel10, name) == offsetof(KernelLayout, name));
static_assert(offsetof(CUpti_ActivityKernel10, sharedMemoryExecuted) == offsetof(KernelLayout, sharedMemoryExecuted));
static_assert(offsetof(CUpti_ActivityKernel10, graphNodeId) == offsetof(KernelLayout, graphNodeId));
static_assert(offsetof(CUpti_ActivityMemcpy6, graphNodeId) == offsetof(CopyLayout, graphNodeId));
static_assert(offsetof(CUpti_ActivityMemory4, memoryPoolConfig) == offsetof(MemoryLayout, memoryPoolConfig));
static_assert(offsetof(CUpti_ActivitySynchronization2, streamId) == offsetof(WaitLayout, streamId));
static_assert(offsetof(CUpti_ActivityOverhead3, end) == offsetof(OverheadLayout, end));

}  // namespace roof::cupti
