// The panels' numbers as tables, for spreadsheets and plotting scripts: what each panel of the report draws from, in one list.
#pragma once

#include "analysis/study/data_table.hpp"
#include "analysis/study/study.hpp"

#include <filesystem>
#include <span>
#include <string_view>

namespace roof::analysis {

struct PanelTable {
    std::string_view panel;  ///< as panels() has it
    std::string_view name;   ///< of the table and its files; empty where the panel has none
    std::string_view why;    ///< then: why it has none
    DataTable (*make)(const Study& study) = nullptr;
};

/// One entry or more for each panel.
std::span<const PanelTable> panel_tables();

/// Into `folder`, making it if need be: each table as <name>.csv and <name>.json over all studies, whose first column `study` says
/// which; tables without rows hold their header. Throws InputError if it cannot be written.
void write_tables(const std::vector<Study>& studies, const std::filesystem::path& folder);

DataTable verdict_table_of(const Study& study);
DataTable hypotheses_table(const Study& study);
DataTable predictions_table(const Study& study);
DataTable placements_table(const Study& study);
DataTable time_table(const Study& study);
DataTable headroom_table(const Study& study);
DataTable breakdown_table(const Study& study);
DataTable kernels_table(const Study& study);
DataTable counted_table_of(const Study& study);
DataTable phase_counts_table_of(const Study& study);
DataTable time_breakdown_table_of(const Study& study);
DataTable calls_table_of(const Study& study);
DataTable copies_table_of(const Study& study);
DataTable memory_table_of(const Study& study);
DataTable memory_over_time_table(const Study& study);
DataTable scaling_table_of(const Study& study);
DataTable trajectories_table(const Study& study);
DataTable what_if_table(const Study& study);
DataTable ceilings_table_of(const Study& study);
DataTable sheet_table_of(const Study& study);
DataTable levels_table(const Study& study);
DataTable bandwidth_table(const Study& study);
DataTable ert_table(const Study& study);
DataTable not_measured_table(const Study& study);

}  // namespace roof::analysis
