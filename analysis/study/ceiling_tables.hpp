// The ceilings of a machine as tables, with remarks.
#pragma once

#include "analysis/table/table.hpp"
#include "ert/method/bench/machine.hpp"
#include "ert/method/ceilings/ceiling.hpp"

#include <string>
#include <vector>

namespace roof::analysis {

/// In order: bandwidth and compute of each device, condition and thread count; latencies; the named ceilings; the
/// memory levels. Tables without rows and columns without content are left out.
std::vector<DataTable> ceiling_tables(const Ceilings& ceilings, const Machine& machine);

/// The ceilings that roofline papers draw below the roof: best mix, FMA only, add only, without FMA, without SIMD. One
/// row for each device, precision and thread count.
DataTable named_ceilings(const Ceilings& ceilings);

/// "steady", "bimodal 105 | 118 GB/s", "unsteady", "unsteady clock" or "few samples".
std::string verdict_of(const Ceiling& ceiling);

/// A sentence if core-to-core transfers had two speeds, which means that vCPUs migrate. Empty otherwise.
std::string moved_processors(const Ceilings& ceilings);

/// Explains the reference of the column "of spec".
std::string spec_footnote(const Ceilings& ceilings, const Machine& machine);

/// All tables and remarks for a terminal, in at most `columns`; 0: unlimited.
std::string ceilings_text(const Ceilings& ceilings, const Machine& machine, int columns = 0);

}  // namespace roof::analysis
