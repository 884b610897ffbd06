// A placement in sentences.
#pragma once

#include "analysis/roofline/place.hpp"

#include <string>

namespace roof::analysis {

/// "resnet50, batch 32, fp32 on cpu, 2 threads".
std::string title_of(const Placement& placement);

/// The share of attainable: "78%", or "≤ 78%" under a roof that is a lower bound. Above its roof "> 100%, from L3", with
/// Placement::served_by.
std::string share_text(const Placement& placement);

/// The roof that binds, with its accesses: "DRAM update", "DRAM mix 2:1", "fp32".
std::string roof_name(const Placement& placement);

/// The arithmetic of a point: FLOPs, bytes, time, and its roof.
std::string explain(const Placement& placement);
/// Why the point is above the roof of the farthest level, and the time that its bytes would take without reuse. Each
/// sentence starts with a blank. Empty if neither applies.
std::string remarks_on(const Placement& placement);

}  // namespace roof::analysis
