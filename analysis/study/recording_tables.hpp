// What was recorded with a run, as tables of text that the page and the terminal share: kernels by category and as counters saw
// them, the time_breakdown of each device, calls, copies, memory. Only rows that count are in them.
#pragma once

#include "analysis/study/study.hpp"

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace roof::analysis {

/// Of a device's kernel time, the share that no rule knows which is no longer passed over.
inline constexpr double most_unclassified = 0.02;

struct RecordedTable {
    std::vector<std::string> header;
    std::vector<std::vector<std::string>> rows;
    std::set<std::size_t> warned{};  ///< rows to be seen first
    std::string note{};              ///< a sentence above the table, if there is something to say of it

    bool empty() const { return rows.empty(); }
};

RecordedTable kernel_table(const Study& study);
RecordedTable counted_table(const Study& study);
/// Of each phase of a step.
RecordedTable phase_counts_table(const Study& study);
/// Of whole steps: amounts that were counted, beside those of the analysis.
RecordedTable step_counters_table(const Study& study);
RecordedTable time_breakdown_table(const Study& study);
RecordedTable calls_table(const Study& study);
RecordedTable copies_table(const Study& study);
RecordedTable memory_table(const Study& study);

/// Cells that are numbers line up to the right; the first cell of a warned row is marked. Empty for an empty table.
std::string html_of(const RecordedTable& table);

/// All of them for a terminal, each under its heading; `width` in columns, 0: as wide as they are. Empty where nothing was
/// recorded.
std::string recording_text(const Study& study, int width);

/// Whether the results folder holds that recorded file: "kernels.csv".
bool has_recording(const Study& study, std::string_view file);

}  // namespace roof::analysis
