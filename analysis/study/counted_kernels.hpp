// Kernels with counted FLOPs and bytes under the roofs of their device: a point for each name in a row. Known: work
// by counter, roofs measured, time measured unless time_known is counter: then the time is gpu__time_duration of
// kernels that ran alone.
//   work        mean of the counted launches, times the timed launches
//   attainable  the maximum of: FLOPs / compute roof, summed over precisions; bytes / bandwidth roof at each
//               counted level
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
    std::size_t counted = 0;   ///< launches with counters
    Seconds seconds;           ///< time of all launches
    Known time_known = Known::measured;
    CountedWork work;                    ///< work of all launches
    std::vector<LevelPlacement> levels;  ///< counted levels, nearest to the core first; a roof of 0 was not measured
    FlopRate compute_roof;               ///< roof of the precision with most FLOPs; 0 if not measured
    std::string binds;                   ///< level or precision; empty without roofs
    Seconds attainable;

    FlopRate rate() const { return seconds.value > 0 ? work.total() / seconds : FlopRate{}; }
    double fraction() const { return seconds.value > 0 ? attainable / seconds : 0; }
};

/// The kernels, longest first within each row; empty without counters.csv. Kernels without a time are left out, as are
/// metrics that some counted launches of a kernel lack.
std::vector<CountedKernel> counted_kernels(const Study& study);

}  // namespace roof::analysis
