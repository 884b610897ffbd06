// The layouts of CUPTI's records. CUPTI only adds to the end of a record, so each is read with the oldest layout that
// has the members needed; one build reads every CUPTI since CUDA 12.0. The assertions compare the oldest layout with
// the newest known.
#pragma once

#include <cupti.h>

#include <cstddef>

namespace roof::cupti {

using KernelLayout = CUpti_ActivityKernel9;
using CopyLayout = CUpti_ActivityMemcpy5;
using PeerCopyLayout = CUpti_ActivityMemcpyPtoP4;
using FillLayout = CUpti_ActivityMemset4;
using MemoryLayout = CUpti_ActivityMemory3;
using WaitLayout = CUpti_ActivitySynchronization;
using OverheadLayout = CUpti_ActivityOverhead2;
using CallLayout = CUpti_ActivityAPI;
using MarkerLayout = CUpti_ActivityMarker2;
using ExternalLayout = CUpti_ActivityExternalCorrelation;

static_assert(offsetof(CUpti_ActivityKernel10, name) == offsetof(KernelLayout, name));
static_assert(offsetof(CUpti_ActivityKernel10, sharedMemoryExecuted) == offsetof(KernelLayout, sharedMemoryExecuted));
static_assert(offsetof(CUpti_ActivityKernel10, graphNodeId) == offsetof(KernelLayout, graphNodeId));
static_assert(offsetof(CUpti_ActivityMemcpy6, graphNodeId) == offsetof(CopyLayout, graphNodeId));
static_assert(offsetof(CUpti_ActivityMemory4, memoryPoolConfig) == offsetof(MemoryLayout, memoryPoolConfig));
static_assert(offsetof(CUpti_ActivitySynchronization2, streamId) == offsetof(WaitLayout, streamId));
static_assert(offsetof(CUpti_ActivityOverhead3, end) == offsetof(OverheadLayout, end));

}  // namespace roof::cupti
