// The checksum of a row, in the last column of measurements.csv. It covers all lines of the row: those of samples.csv and layers.csv are short, and a
// checksum in each would take several percent of a folder. As a block (ert/base/checksum.hpp) a row is, in this order:
//   1. the checksum of the row before, or for the first row the header of measurements.csv
//   2. its line of measurements.csv
//   3. if it has samples, the header of samples.csv and its lines there
//   4. if it has layers, the header of layers.csv and its lines there
//   5. the header of measurements.csv with this column; not in format 2
// all without line ends and, but for 5, without this column.
#pragma once

#include "ert/base/csv_lines.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace roof {

/// The files whose lines a row's checksum covers beside its own, in order.
inline constexpr std::array<std::string_view, 2> files_of_lines{"samples.csv", "layers.csv"};

/// The checksum of a row. `before`, `line` and `header`: 1, 2 and 5 above. `files`: 3 and 4, each with line ends.
std::string row_checksum(std::string_view before, std::string_view line, std::span<const std::string> files,
                         std::string_view header);

/// The content of the folder's measurements.csv with its checksums written anew, for the folder's run. Lines whose id cannot be read get one that covers no other
/// file. Throws InputError.
std::string with_row_checksums(const std::filesystem::path& folder);

/// Adds up a row's checksum while its files are read.
class RowProof {
  public:
    /// `row`: its line in measurements.csv. `before`: the CRC-32 of what stands before.
    RowProof(const CsvLines& row, std::uint32_t before);

    /// Adds a line of files_of_lines[file], whose header has the CRC-32 `header`. Lines come in the order above.
    void add(const CsvLines& line, std::size_t file, std::uint32_t header);

    /// What is wrong: a sentence that begins with file and line. Empty if nothing is.
    std::string damage(const std::filesystem::path& folder) const;

  private:
    struct Place {
        std::size_t first = 0;  ///< number of the first line of the row in the file
        std::size_t count = 0;
    };

    BlockSum sum_;
    std::string stated_;
    std::optional<std::uint32_t> header_;  ///< CRC-32 of 5
    std::size_t line_;                     ///< in measurements.csv
    std::array<Place, files_of_lines.size()> others_{};
};

}  // namespace roof
