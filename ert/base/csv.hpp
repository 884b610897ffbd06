// CSV as RFC 4180 has it, read by column name. A file that was cut off in mid-line still reads: its last, incomplete
// line is left out and its place reported, which is how a result folder survives a kill at any moment.
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

    /// Index of the column; throws InputError naming the columns there are.
    std::size_t column(std::string_view name) const;
    bool has(std::string_view name) const;
};

/// One line with its line end; cells are quoted where they need it.
std::string csv_line(std::span<const std::string> cells);

/// Throws InputError with file and line for a row whose number of cells is not that of the header.
CsvTable parse_csv(std::string_view text, const std::string& name);
CsvTable read_csv(const std::filesystem::path& file);

}  // namespace roof
