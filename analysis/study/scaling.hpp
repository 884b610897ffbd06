// What training on several ranks gained: throughput against that of one rank, and what communication cost.
#pragma once

#include "analysis/study/study.hpp"
#include "ert/method/bench/measurement.hpp"

#include <span>
#include <string>
#include <vector>

namespace roof::analysis {

/// What each rank's link carried each way while messages were under way: link_bytes() (link.hpp) over exposed and hidden time. 0 for
/// one rank.
ByteRate bus_bandwidth(const Measurement& row);

/// A row of several ranks beside that of one rank at the same point.
struct Scaling {
    const Measurement* row = nullptr;
    const Measurement* alone = nullptr;  ///< null if the study has none
    double speedup = 0;                  ///< images per second over those of one rank
    double efficiency = 0;               ///< speedup over ranks
    /// The fastest all-reduce that the calibration measured between GPUs; null: none, or ranks of a CPU.
    const Ceiling* link = nullptr;
};

/// Rows of several ranks that were measured, by model in order of appearance. Beside each stands one rank at the point that differs in
/// nothing but ranks and how they exchange, with a rank's part of the threads: under weak scaling at the batch of one rank, under
/// strong scaling at the whole batch.
std::vector<Scaling> scalings(const Study& study);

/// The words of each column, and the cells of each row.
const std::vector<std::string>& scaling_header();
std::vector<std::vector<std::string>> scaling_cells(const Study& study);

/// Model, batch, ranks, scaling, communication, images per second, speedup, efficiency, exposed and hidden time, bus bandwidth. Empty
/// without rows of several ranks. Where a window has fewer `columns` than the table takes, the least is left out; 0: no window.
std::string scaling_table(const Study& study, int columns = 0);

}  // namespace roof::analysis
