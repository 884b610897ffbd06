// Work in each phase of a step by hardware counters. Known: counter. If the recorder counted whole phases, those
// counts are used; the caches are then as in the step. Otherwise the sum over the phase's kernels, each counted
// alone. For other programs the counted kernels may be more or less than a step.
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

/// Sorted by row, device and phase; rows without phases are left out. Metrics that some counted kernels lack are left
/// out.
std::vector<PhaseCount> phase_counts(const Study& study);

}  // namespace roof::analysis
