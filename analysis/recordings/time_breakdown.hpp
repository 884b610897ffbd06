// Kernels of a run, from kernels.csv: totals by row, device, category and name, and the time breakdown of a device: how
// the wall time of a step was spent, from the start and end of every record. Each instant counts once, as the first
// that applies of: classified kernel, unclassified kernel, collective, copy, idle. So the entries add up to the wall
// time. Copies and collectives count only while no kernel runs.
#pragma once

#include "analysis/recordings/kernel_rules.hpp"
#include "ert/base/units.hpp"
#include "ert/method/bench/measurement.hpp"
#include "ert/recording/record_files.hpp"

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace roof::analysis {

struct KernelTotal {
    std::string row;  ///< Measurement::id()
    std::string device;
    std::string category;   ///< category by the rules
    std::string algorithm;  ///< algorithm of a convolution
    std::string name;
    std::size_t launches = 0;
    double seconds = 0;
};

struct KernelDigest {
    std::vector<KernelTotal> totals;  ///< the most seconds of each row first
    std::size_t launches = 0;         ///< lines read
};

/// The kind of each layer (convolution, linear, …) by its name.
using LayerKinds = std::map<std::string, std::string, std::less<>>;

LayerKinds layer_kinds(std::span<const Measurement> rows);

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
    Seconds wall;  ///< the sum of the next five
    Seconds kernels, unclassified, collectives, copies, idle;
    Seconds hidden_collectives;    ///< while a kernel ran
    Seconds hidden_copies;         ///< while a kernel or a collective ran
    Seconds computing;             ///< while at least one kernel ran
    Seconds kernel_time;           ///< sum over all kernels
    std::size_t kernel_count = 0;  ///< kernels that ran in the window

    Seconds busy() const { return wall - idle; }
    /// Mean number of running kernels while at least one runs; 0 without kernels.
    double concurrency() const { return computing.value > 0 ? kernel_time / computing : 0; }
};

/// One breakdown for each window. Intervals may be in any order and are clipped to the window. Throws
/// std::invalid_argument for an interval or a window that ends before it begins.
std::vector<TimeBreakdown> finish_breakdowns(std::vector<Interval> intervals, std::span<const Window> windows);

/// The time breakdown of one row on one device: the mean over its steps.
struct DeviceTimeBreakdown {
    std::string row;  ///< Measurement::id()
    std::string device;
    TimeBreakdown mean;
    std::size_t steps = 0;     ///< recorded; 0: no step was marked, and `mean` is of the whole recording
    std::size_t unplaced = 0;  ///< kernels and copies without a start, which are not included
};

struct RecordedKernels {
    KernelDigest digest;
    std::vector<DeviceTimeBreakdown> time_breakdown;  ///< empty if no record has a start
};

/// Reads kernels.csv (once), copies.csv and ranges.csv of a results folder. The totals are summed line by line: their
/// memory depends on the number of names, not of launches.
RecordedKernels read_kernels(const RecordedFolder& folder, const KernelRules& rules, const LayerKinds& kinds);

}  // namespace roof::analysis
