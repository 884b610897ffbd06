// The time_breakdown of a device: where the wall time of a step went, from the start and the end of everything that ran on it. Every
// instant is entered once: under kernels, if one that the rules know runs; else under unclassified, collectives or copies, in
// this order; else it is idle. So the entries add up to the wall time, and what is entered under copies or collectives is what
// no kernel hides.
#pragma once

#include "analysis/recordings/kernels.hpp"
#include "ert/base/units.hpp"

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace roof::analysis {

enum class Activity { kernel, unclassified, collective, copy };  ///< a fill is a copy

struct Interval {
    Seconds start;
    Seconds end;
    Activity activity = Activity::kernel;
};

struct Window {
    Seconds begin;
    Seconds end;
};

struct TimeBreakdown {
    Seconds wall;  ///< all below are of this
    Seconds kernels, unclassified, collectives, copies, idle;
    Seconds hidden_collectives;    ///< while a kernel ran
    Seconds hidden_copies;         ///< while a kernel or a collective ran
    Seconds computing;             ///< while at least one kernel ran, known or not
    Seconds kernel_time;           ///< of all kernels, added up
    std::size_t kernel_count = 0;  ///< begun or at work in it

    Seconds entered() const { return kernels + unclassified + collectives + copies + idle; }
    Seconds busy() const { return wall - idle; }
    /// Kernels at work, on the average over the time when one is; 0 without kernels.
    double concurrency() const { return computing.value > 0 ? kernel_time / computing : 0; }
    TimeBreakdown& operator+=(const TimeBreakdown& other);
};

/// Of each window, in their order; intervals in any. What lies outside a window is not in its time_breakdown.
/// Throws std::invalid_argument for an interval or a window that ends before it begins.
std::vector<TimeBreakdown> finish_breakdowns(std::vector<Interval> intervals, std::span<const Window> windows);

/// The time_breakdown of one row on one device: the mean over its steps.
struct DeviceTimeBreakdown {
    std::string row;  ///< Measurement::id()
    std::string device;
    TimeBreakdown mean;
    std::size_t steps = 0;     ///< recorded; 0: no step was marked, and the time_breakdown are of the whole recording
    std::size_t unplaced = 0;  ///< kernels and copies that say no start, and so stand in no time_breakdown
};

struct RecordedKernels {
    KernelDigest digest;
    std::vector<DeviceTimeBreakdown> time_breakdown;  ///< none where no record says when it began
};

/// Of a results folder's kernels.csv, which is read once, copies.csv and ranges.csv.
RecordedKernels read_kernels(const std::filesystem::path& folder, const KernelRules& rules, const LayerKinds& kinds);

}  // namespace roof::analysis
