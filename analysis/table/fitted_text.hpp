// Text that fits a terminal: tables that leave out columns, and lines that break between words. Widths are in columns
// of the terminal; 0 means unlimited.
#pragma once

#include "analysis/table/table.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace roof::analysis {

/// The columns that a UTF-8 text takes on a terminal, one for each character.
std::size_t display_columns(std::string_view text);

/// What a terminal shows of the table: control characters replaced, and where the table is wider than `columns`,
/// without its expendable columns, those that are the same in every row first. If that is not enough, the longest
/// cells of the first column are cut and end in '~'.
DataTable fitted(const DataTable& table, int columns);

/// The title, if there is one, and the fitted table.
std::string to_text(const DataTable& table, int columns = 0);

/// Breaks each line that is wider than `columns` between words. The continuation is indented two columns more than
/// the line; a word longer than a line is cut.
std::string fitted_lines(std::string_view text, int columns);

/// `begin` and the items, two blanks before each. Lines break between items; continuations are indented by four.
std::string fitted_items(const std::string& begin, const std::vector<std::string>& items, int columns);

}  // namespace roof::analysis
