// CSV (RFC 4180), read by column name. An incomplete last line is left out and its position reported, so that the files
// of a killed run can be read.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace roof {

struct CsvTable {
    std::vector<std::string> header;
    std::vector<std::vector<std::string>> rows;
    std::size_t complete_bytes = 0;  ///< length of the file up to its last complete line

    /// Index of the column; throws InputError naming the existing columns.
    std::size_t column(std::string_view name) const;
    bool has(std::string_view name) const;
};

/// One line with its line end. Cells are quoted where necessary.
std::string csv_line(std::span<const std::string> cells);

/// Throws InputError with file and line for a row whose number of cells differs from the header's.
CsvTable parse_csv(std::string_view text, const std::string& name);
CsvTable read_csv(const std::filesystem::path& file);

}  // namespace roof
