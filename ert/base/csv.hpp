// CSV (RFC 4180, without line ends in cells) as a whole table, read by column name. An incomplete last line is left
// out, so that the files of a killed run can be read. csv_lines.hpp reads large files.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace roof {

struct CsvTable {
    std::vector<std::string> header;
    std::vector<std::vector<std::string>> rows;

    /// Index of the column; throws InputError naming the existing columns.
    std::size_t column(std::string_view name) const;
    bool has(std::string_view name) const { return std::ranges::find(header, name) != header.end(); }
};

/// Quoted where necessary; a line end in a cell becomes a blank.
void append_csv_cell(std::string& line, std::string_view cell);
/// One line with its line end.
std::string csv_line(std::span<const std::string> cells);

/// Throws InputError with file and line for a row with another number of cells, and for a checksum that does not match.
CsvTable parse_csv(const std::string& text, const std::string& name);

/// The number in a cell. Throws InputError, which begins with `where`, for any other text.
double number_in_cell(const std::string& cell, const std::string& where);

}  // namespace roof
