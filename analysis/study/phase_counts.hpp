// What hardware counters saw of each phase of a step. Known: counter. Where the recorder counted whole stretches of a phase, these are
// taken: caches are as the step leaves them. Else what the phase's kernels add up to, each counted alone; of a program that is none
// of ours, these are as many kernels as were counted, which may be more or less than a step.
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
    std::string phase;        ///< empty: of kernels that no phase is known of
    std::size_t kernels = 0;  ///< that were added up; 0: the phase was counted as a whole
    CountedWork work;
};

/// In the order of rows, devices and phases; none of a row whose counters tell no phase. A metric that some of the counted kernels
/// lack is no sum, and left out.
std::vector<PhaseCount> phase_counts(const Study& study);

}  // namespace roof::analysis
