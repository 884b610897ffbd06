// Totals of the recordings of a run; empty without the file. Each file is read once, at its first use, because
// kernels.csv may have a million lines. Set the kernel rules before the first use.
#pragma once

#include "analysis/recordings/api_calls.hpp"
#include "analysis/recordings/copies.hpp"
#include "analysis/recordings/memory_use.hpp"
#include "analysis/recordings/time_breakdown.hpp"
#include "analysis/study/study.hpp"

#include <vector>

namespace roof::analysis {

const KernelDigest& kernels_of(const Study& study);
const std::vector<DeviceTimeBreakdown>& time_breakdown_of(const Study& study);
const std::vector<CallTotal>& calls_of(const Study& study);
const std::vector<CopyTotal>& copies_of(const Study& study);
const std::vector<MemoryUse>& memory_of(const Study& study);

}  // namespace roof::analysis
