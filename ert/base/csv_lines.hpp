// CSV read line by line, for files of any size. RFC 4180, except that a cell cannot contain a line end. csv.hpp reads whole tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

namespace roof {

class CsvLines {
  public:
    /// `name` is used in messages. `csv` is borrowed.
    CsvLines(std::istream& csv, std::string name, char separator = ',');

    /// Reads a line. Returns false at the end of the file; a last line without a line end is left out. Throws
    /// InputError for an unclosed quote and for a line of more than 16 MiB. After the former, the next line can be read.
    bool next();

    /// Cells of the current line, without quotes and without the column of the checksums. Valid until the next call.
    const std::vector<std::string_view>& cells() const { return cells_; }
    /// Whether the header ends with the column of the checksums (ert/base/checksum.hpp).
    bool has_checksums() const { return has_checksums_; }
    /// What is wrong with the current line: its number of cells, or that it does not match its checksum. Empty if nothing is.
    std::string damage() const;
    /// Number of the current line, from 1.
    std::size_t number() const { return number_; }
    /// Length of the file up to the end of the current line.
    std::size_t bytes() const { return bytes_; }
    /// "name:number", for messages.
    std::string where() const;
    const std::string& name() const { return name_; }
    /// Whether the file ended in the middle of a line. Valid after next() has returned false.
    bool cut_off() const { return cut_off_; }

  private:
    bool read_line();
    void check();
    void split();

    std::istream& csv_;
    std::string name_;
    char separator_;
    std::string line_;
    std::vector<std::string_view> cells_;
    std::size_t number_ = 0;
    std::size_t width_ = 0;  ///< cells of the header
    std::size_t bytes_ = 0;
    std::uint32_t crc_ = 0;  ///< of the lines before, as they state it
    bool has_checksums_ = false;
    bool matches_ = true;
    bool cut_off_ = false;
};

}  // namespace roof
