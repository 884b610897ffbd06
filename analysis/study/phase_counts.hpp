// Work in each phase of a step by hardware counters. Known: counter. Counts of whole phases are preferred, because the
// caches are then as in the step. Otherwise the sum over the phase's kernels, each counted alone; for other programs
// these may be more or fewer than in a step.
#pragma once

#include "analysis/recordings/counted_work.hpp"
#include "analysis/study/study.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace roof::analysis {

struct PhaseCount {
    std::string row;  ///< Measurement::id()
    std::string device;
    std::string phase;        ///< empty: kernels of unknown phase
    std::size_t kernels = 0;  ///< summed kernels; 0: the phase was counted as a whole
    CountedWork work;
};

/// The counts, sorted by row, device and phase. Rows without phases are left out, as are metrics that some counted
/// kernels lack.
std::vector<PhaseCount> phase_counts(const Study& study);

}  // namespace roof::analysis
