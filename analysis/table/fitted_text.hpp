// Text that fits a terminal: tables that leave out columns, and lines that break between words. Widths are in columns
// of the terminal; 0 means unlimited.
#pragma once

#include "analysis/table/table.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace roof::analysis {

/// The width of a UTF-8 text on a terminal in columns, one for each character.
std::size_t display_columns(std::string_view text);

/// The table as a terminal shows it, with control characters replaced. A table wider than `columns` has
/// columns that are the same in every row in its title instead, then loses its expendable columns. If it is still too
/// wide, the longest texts of one column after another are cut and end in '~'; numbers stay whole, and so do texts of
/// the last column, which may break between words.
DataTable fitted(const DataTable& table, int columns);

/// The title, if there is one, and the fitted table; a table that cannot fit has a line for each cell.
std::string to_text(const DataTable& table, int columns = 0);

/// Breaks each line wider than `columns` between words. Continuations begin where the value of "key  value" begins,
/// else two columns further in; a word longer than a line is cut. Empty text stays empty.
std::string fitted_lines(std::string_view text, int columns);

/// The heading and, below it, a line for each item, two columns further in; empty without items.
std::string listed(const std::string& heading, const std::vector<std::string>& items);

/// `begin` and the items, each after two blanks. Lines break between items; continuations are indented by four columns.
std::string fitted_items(const std::string& begin, const std::vector<std::string>& items, int columns);

}  // namespace roof::analysis
