// Totals of what was recorded with a run. Each file is read once, at its first use: kernels.csv may have a million
// lines. Empty without the file. Kernel rules must be set before.
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
