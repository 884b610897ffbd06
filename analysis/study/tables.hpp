// All tables about a study. The report's panels and the terminal show them; `write_tables` exports them for
// spreadsheets and plotting scripts.
#pragma once

#include "analysis/study/study.hpp"
#include "analysis/table/table.hpp"

#include <filesystem>
#include <span>
#include <string_view>

namespace roof::analysis {

/// The export of one panel of the report.
struct PanelTable {
    std::string_view panel;  ///< id of the panel
    std::string_view name;   ///< name of the table and its files; empty: no table
    std::string_view why;    ///< reason for no table
    DataTable (*make)(const Study& study) = nullptr;
};

/// At least one entry for each panel.
std::span<const PanelTable> panel_tables();

/// Writes each table over all studies to <folder>/<name>.csv and .json. The first column is `study`. A table without
/// rows is only a header. Creates the folder; throws InputError if it cannot be written.
void write_tables(const std::vector<Study>& studies, const std::filesystem::path& folder);

// Steps (step_tables.cpp).
DataTable verdict_table(const Study& study);
DataTable trajectories_table(const Study& study);
/// The layers of each step with headroom, the most headroom first.
DataTable headroom_table(const Study& study);
/// The layers with headroom of one step, at most `n`; the title names the step.
DataTable headroom_table(const Study& study, const Measurement& row, int n);
DataTable breakdown_table(const Study& study);
DataTable hypotheses_table(std::span<const Answered> answers);
DataTable not_measured_table(const Study& study);
/// Every memory level, or every precision, twice as fast.
DataTable what_if_table(const Study& study);
DataTable scaling_table(const Study& study);

// Points of charts (point_tables.cpp).
DataTable placements_table(const Study& study);
/// The times that each layer's memory and compute roofs allow.
DataTable time_table(const Study& study);
DataTable bandwidth_table(const Study& study);
DataTable ert_table(const Study& study);

// Recordings (recording_tables.cpp). People see only rows of the study, and only the longest entries of long lists.
DataTable kernels_table(const Study& study);
DataTable kernel_categories_table(const Study& study);
DataTable counted_kernels_table(const Study& study);
/// A row for each kernel and memory level, for programs.
DataTable counted_bytes_table(const Study& study);
DataTable phase_counts_table(const Study& study);
/// A row for each phase and counted amount, for programs.
DataTable phase_amounts_table(const Study& study);
/// Counted amounts of whole steps beside the analytic ones.
DataTable step_counters_table(const Study& study);
DataTable time_breakdown_table(const Study& study);
DataTable calls_table(const Study& study);
DataTable copies_table(const Study& study);
DataTable memory_table(const Study& study);
DataTable memory_over_time_table(const Study& study);

// Ceilings (ceiling_tables.cpp).
DataTable ceilings_table(const Study& study);
DataTable levels_table(const Ceilings& ceilings);
DataTable sheet_table(const Study& study);

}  // namespace roof::analysis
