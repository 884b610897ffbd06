// The layouts of CUPTI's records. CUPTI only adds to the end of a record, so each is read with the oldest layout that
// has the members needed; one build reads every CUPTI since CUDA 12.0. tests/cupti/newest_layouts.cpp compares them with the newest
// known.
#pragma once

#include <cupti.h>

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

}  // namespace roof::cupti
