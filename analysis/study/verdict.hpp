// Verdicts in text: how far each training step is from what its machine can do, what keeps it there, where the time to
// be won lies, and the ceilings that claim rests on.
#pragma once

#include "analysis/study/study.hpp"

#include <span>
#include <string>
#include <vector>

namespace roof::analysis {

/// Shares of a step's time by what its layers are limited by; `rest` is time that no layer accounts for.
struct TimeShares {
    double compute = 0;
    double bandwidth = 0;
    double unexplained = 0;
    double rest = 0;
};
/// Of the layers of this row; all zero if it has none or they have no roofs.
TimeShares time_shares(std::span<const Placement> placements, const Measurement& row);

/// The step's placement; null if the row is not ok.
const Placement* step_placement(std::span<const Placement> placements, const Measurement& row);

/// The row's layers with the most seconds to win first, at most `n`, and none without any.
std::vector<const Placement*> most_headroom(std::span<const Placement> placements, const Measurement& row, int n);

/// The placements that lie above the roof over them even where the time and the roof are taken at the ends of their
/// intervals: no workload may, so either its work is counted too high or the roof was measured too low.
std::vector<const Placement*> above_their_roof(const Study& study);

/// How many placements those are, what can be the cause, and what to do. Empty if there are none.
std::string above_text(const Study& study);

/// When the calibration's first row was measured, "2026-11-21 12:26 UTC"; empty if there is no calibration.
std::string calibration_date(const Study& study);

/// "Roofs: the calibration <folder> of <date>."; empty if there is none.
std::string calibration_line(const Study& study);

/// A line per model and batch, then the reasons of the rows that are not ok. Where a window has fewer `columns` than the whole
/// table takes, those that say least are left out and lines are broken; 0: no window.
std::string verdict_table(const Study& study, int columns = 0);
/// The top `n` layers of each model's largest batch, in a window of so many `columns`; 0: no window.
std::string top_headroom(const Study& study, int n, int columns = 0);

}  // namespace roof::analysis
