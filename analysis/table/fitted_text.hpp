// Text that fits the window of a terminal: tables that give up columns, and lines that break between words.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace roof::analysis {

/// The columns a UTF-8 text takes on a screen, a letter each.
std::size_t display_columns(std::string_view text);

/// The table of `header` and `rows` in at most `columns`; 0: as wide as it wants to be. Where it is wider, the columns named in
/// `expendable` go, the first one first and before it those that are the same in every row; but none of `telling` that
/// alone tells two rows apart. Then the longest cells of the first column are cut and end in '~'. Each row has as many cells as the
/// header.
std::string fitted_table(const std::vector<std::string>& header, const std::vector<std::vector<std::string>>& rows,
                         const std::vector<std::string>& expendable, int columns,
                         const std::vector<std::string>& telling = {});

/// Each line broken between words where it takes more than `columns`, and indented after the break as far as it began, and by
/// two more; words that are longer than a line are cut into pieces. 0: as it is.
std::string fitted_lines(std::string_view text, int columns);

/// `begin` and the items after it, two blanks before each, broken between items alone, in lines indented by four.
std::string fitted_items(const std::string& begin, const std::vector<std::string>& items, int columns);

}  // namespace roof::analysis
