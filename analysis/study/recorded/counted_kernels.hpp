// Kernels with counted FLOPs and bytes under the roofs of their device, and functions of a program that ran under
// valgrind: a point for each name in a row. Known: work by counter or simulated, roofs measured, time measured unless
// time_known is counter: then the time is gpu__time_duration of kernels that ran alone. The time of a function is by
// samples.
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
    Known known = Known::counter;        ///< its work
    CountedWork work;                    ///< work of all launches
    int roof_threads = 0;                ///< of the roofs
    std::string most_flops{};            ///< of a function: "fp32 by FMA, 256 bits"
    std::vector<LevelPlacement> levels;  ///< counted levels, nearest to the core first; a roof of 0 was not measured
    FlopRate compute_roof;               ///< roof of the precision with most FLOPs; 0 if not measured
    std::string binds;                   ///< level or precision; empty without roofs
    Seconds attainable;

    FlopRate rate() const { return seconds.value > 0 ? work.total() / seconds : FlopRate{}; }
    bool is_function() const { return known == Known::simulated; }
    double fraction() const { return seconds.value > 0 ? attainable / seconds : 0; }
};

/// The kernels, longest first within each row; empty without counters.csv. Kernels without a time are left out, as are
/// metrics that some counted launches of a kernel lack.
std::vector<CountedKernel> counted_kernels(const Study& study);

/// "54.0 MFLOP in 1.2 ms, 12% of the roof of L2; L1 48 kB, 0.5 FLOP/B; …".
std::string explain(const CountedKernel& kernel);

/// Work in each phase of a step by hardware counters. Known: counter. Counts of whole phases are preferred, because the
/// caches are then as in the step. Otherwise the sum over the phase's kernels, each counted alone; for other programs
/// these may be more or fewer than in a step.
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
