// Kernels whose FLOPs and bytes were counted, under the roofs of their device: a point for each name in a row. Known: counter for
// the work, measured for the roofs, and for the time unless time_known says counter: then the kernels were counted and not traced,
// and took gpu__time_duration, each alone.
//   work        of a launch, the mean over those counted; times the launches that were timed
//   attainable  the longest of: FLOPs over the compute roof, added up over precisions; bytes over the bandwidth roof, at each level
//               that was counted
#pragma once

#include "analysis/recordings/counted_work.hpp"
#include "analysis/study/study.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace roof::analysis {

struct CountedKernel {
    std::string row;  ///< Measurement::id()
    std::string device;
    std::string name;
    std::string category;
    std::size_t launches = 0;  ///< timed
    std::size_t counted = 0;   ///< whose counters were read
    Seconds seconds;           ///< of all launches
    Known time_known = Known::measured;
    CountedWork work;  ///< of all launches
    std::vector<LevelPlacement>
        levels;             ///< those counted, nearest to the core first; the roof is 0 where none was measured
    FlopRate compute_roof;  ///< of the precision of the most FLOPs; 0 if none was measured
    std::string binds;      ///< level or precision; empty without roofs
    Seconds attainable;

    FlopRate rate() const { return seconds.value > 0 ? work.total() / seconds : FlopRate{}; }
    double fraction() const { return seconds.value > 0 ? attainable / seconds : 0; }
};

/// Of each row the longest first; empty without counters.csv. A metric that some of a kernel's counted launches lack is no sum,
/// and left out. A kernel without a time is left out: nothing says where it would stand.
std::vector<CountedKernel> counted_kernels(const Study& study);

}  // namespace roof::analysis
