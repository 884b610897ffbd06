// All tables about a study. The terminal and the report's panels show them; the report also writes them as CSV and
// JSON.
#pragma once

#include "analysis/study/study.hpp"
#include "analysis/table/table.hpp"

#include <span>
#include <string>

namespace roof::analysis {

// Steps (step_tables.cpp).
DataTable verdict_table(const Study& study);
DataTable trajectories_table(const Study& study);
/// The layers of each step with headroom, the most headroom first.
DataTable headroom_table(const Study& study);
/// The layers with headroom of one step, at most `n`; the title names the step.
DataTable headroom_table(const Study& study, const Measurement& row, int n);
DataTable breakdown_table(const Study& study);
DataTable not_measured_table(const Study& study);
DataTable what_if_table(const Study& study);
/// Which device is fastest at which batch (winners.cpp): the steps that a plan asked for on more than one device,
/// number of ranks or of threads, or machine, by model, precision, data and batch; the most images per second first.
/// "slower": the interval of the ratio excludes 1; else "not told apart", or that there are too few samples to tell.
/// Steps that no device ran are for programs only.
DataTable winners_table(std::span<const Study> studies);

Cell phase_cell(const Placement& p);

// Training on several ranks (scaling.cpp).

/// Rate of each rank's link each way during communication: link_bytes() (roofs.hpp) over exposed plus hidden time. 0
/// for one rank.
ByteRate bus_bandwidth(const Measurement& row);

/// A row of several ranks, and the row of one rank at the same point.
struct Scaling {
    const Measurement* row = nullptr;
    const Measurement* alone = nullptr;  ///< null if the study has none
    double speedup = 0;                  ///< images per second over those of one rank
    double efficiency = 0;               ///< speedup over ranks
    /// The fastest measured all-reduce between GPUs; null if there is none, and for ranks of a CPU.
    const Ceiling* link = nullptr;
};

/// `alone` has one rank's share of the threads; its batch is that of one rank under weak scaling and the whole batch
/// under strong scaling. A row of one rank has none.
Scaling scaling_of(const Measurement& row, const Study& study);
/// Measured rows of several ranks, grouped by model.
std::vector<Scaling> scalings(const Study& study);
Cell speedup_cell(const Scaling& scaling);
Cell efficiency_cell(const Scaling& scaling);
DataTable scaling_table(const Study& study);

// Points of charts (point_tables.cpp).
DataTable placements_table(const Study& study);
DataTable time_table(const Study& study);

/// The bytes of a whole step between a memory level and the next one nearer to the cores.
struct LevelTraffic {
    std::string level;
    std::string nearer;  ///< "cores" beside the nearest level
    LevelBytes bytes;
    ByteRate roof;  ///< of the level, for the step's reads and writes
    Seconds step;

    /// What is moved at least, and at most, of what the roof allows in the time of the step. Above 1: not all of it
    /// was.
    double least() const { return bytes.low / (roof * step); }
    double most() const { return bytes.high / (roof * step); }
};
/// Nearest level first; empty if the bytes of a level are not known.
std::vector<LevelTraffic> traffic_of(const Study& study, const Measurement& row);
DataTable traffic_table(const Study& study);
DataTable bandwidth_table(const Study& study);
DataTable ert_table(const Study& study);

// Recordings (recording_tables.cpp). People see only rows of the study, and only the longest entries of long lists.
DataTable kernels_table(const Study& study);
DataTable kernel_categories_table(const Study& study);
/// A row for each kernel and memory level; people see the first one, which has all levels.
DataTable counted_kernels_table(const Study& study);
/// A row for each phase and counted amount; people see the first one, which has all amounts.
DataTable phase_counts_table(const Study& study);
DataTable step_counters_table(const Study& study);
DataTable time_breakdown_table(const Study& study);
DataTable calls_table(const Study& study);
DataTable copies_table(const Study& study);
DataTable memory_table(const Study& study);
DataTable memory_over_time_table(const Study& study);
/// A share of unclassified kernel time above this is marked as a warning.
inline constexpr double most_unclassified = 0.02;
/// All of these that have rows, each under its title, in at most `width` columns; 0: unlimited. Empty without
/// recordings.
std::string recording_text(const Study& study, int width);

// What lasts, and joules (energy.cpp).

DataTable sustained_table(const Study& study);
/// The steps that were repeated for seconds, each, where its joules were counted, followed by its phases. The energy
/// roof: by the probes of `study.sustained` of its device, threads and precision.
DataTable energy_table(const Study& study);

// Ceilings (ceiling_tables.cpp).
DataTable ceilings_table(const Study& study);
DataTable levels_table(const Ceilings& ceilings);
DataTable sheet_table(const Study& study);

}  // namespace roof::analysis
