// CSV read line by line, for files of any size, or as a whole table. RFC 4180, except that a cell cannot contain a line
// end.
#pragma once

#include "ert/base/checksum.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <istream>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace roof {

class CsvLines {
  public:
    /// `name` is used in messages. `csv` is borrowed.
    CsvLines(std::istream& csv, std::string name, char separator = ',')
        : csv_(csv), name_(std::move(name)), separator_(separator)
    {
    }
    CsvLines(const CsvLines&) = delete;
    CsvLines& operator=(const CsvLines&) = delete;

    /// Reads a line. False at the end of the file; a last line without a line end is left out. Throws InputError for an
    /// unclosed quote or one within a cell, after which the next line can be read, and for a line of more than 16 MiB.
    bool next();
    /// The same, but what is wrong with the line, the number of its cells included, goes to `what`; empty if nothing
    /// is.
    bool next(std::string& what);

    /// Cells of the current line, without quotes and without the column of the checksums. Valid until the next call.
    const std::vector<std::string_view>& cells() const { return cells_; }
    /// Whether the header ends with a column of checksums (ert/base/checksum.hpp).
    bool has_checksums() const { return has_blocks() || kind_ == Kind::row; }
    /// Whether that is the column of blocks.
    bool has_blocks() const { return kind_ == Kind::block; }
    /// The run that the column's name states; empty in format 2.
    const std::string& run() const { return run_; }
    /// The CRC-32 of the whole header, with that column; none without a run, where the checksums do not cover it.
    const std::optional<std::uint32_t>& header() const { return header_; }
    /// The CRC-32 of the current line as written, without its checksum.
    std::uint32_t crc() const { return crc_; }
    /// The current line's cell in the column of the checksums.
    const std::string& checksum() const { return checksum_; }
    /// What is wrong with the number of cells of the current line: a sentence that begins with file and line. Empty if
    /// nothing is.
    std::string cell_damage() const;
    /// Whether the current line is the last of a block; after the last line, whether a block has no end.
    bool ends_block() const { return block_ && ended_block_ != has_ended_; }
    /// What is wrong with the block that ends here, in the same way.
    std::string block_damage() const;
    /// One of the two.
    std::string damage() const;
    /// Number of the current line, from 1.
    std::size_t number() const { return number_; }
    /// Length of the file up to the end of the current line.
    std::size_t bytes() const { return bytes_; }
    /// "name:number", for messages.
    std::string where() const { return name_ + ":" + std::to_string(number_); }
    const std::string& name() const { return name_; }
    /// Whether the file ended in the middle of a line. Valid after next() has returned false.
    bool cut_off() const { return cut_off_; }

  private:
    /// `older`: a column that an older version wrote. It is left out and not compared.
    enum class Kind { none, block, row, older };

    bool read_line();
    void read_kind();
    void take_checksum();
    void add_to_block();
    void split();

    std::istream& csv_;
    std::string name_;
    char separator_;
    std::string line_;
    std::string text_;  ///< of the cells
    std::vector<std::string_view> cells_;
    std::size_t number_ = 0;
    std::size_t width_ = 0;  ///< cells of the header
    std::size_t bytes_ = 0;
    Kind kind_ = Kind::none;
    std::string run_;
    std::optional<std::uint32_t> header_;
    std::uint32_t crc_ = 0;
    std::string checksum_;
    std::uint32_t before_ = 0;    ///< CRC-32 of what stands before the block
    std::optional<Block> block_;  ///< of the current line, or of the last one
    bool ended_block_ = false;    ///< by that line
    bool has_ended_ = false;
    bool cut_off_ = false;
};

/// Throws InputError if the header of the current lines states another run, or none.
void check_run(const CsvLines& lines, const std::string& run);

/// Reads the header of a file, calls `check_header`, which throws InputError for one that is not known, and then
/// `read`. A file whose header is not known is read with `header` as its first line if that is proven (with_header()),
/// and `tell` gets the sentence, and whether all lines are lost.
void read_lines_of(const std::filesystem::path& file, const std::string& header,
                   const std::function<void(const CsvLines&)>& check_header, const std::function<void(CsvLines&)>& read,
                   const std::function<void(const std::string& what, bool is_lost)>& tell);

/// `text` with `header` as its first line, in place of the one that stands there or before it, if its first block then
/// matches; without blocks, if its next line has as many cells. Else none. For a file whose first line is damaged or
/// lost. `header`: with the column of the checksums, without line end.
std::optional<std::string> with_header(std::string_view text, const std::string& header);

// What is wrong with files: the first thousand sentences and the number of the others, because a file of 1 MB can have
// a million damaged lines.

class DamageList {
  public:
    static constexpr std::size_t most = 1000;

    void add(std::string sentence)
    {
        if (is_full())
            ++others_;
        else
            sentences_.push_back(std::move(sentence));
    }
    bool is_empty() const { return sentences_.empty(); }
    bool is_full() const { return sentences_.size() >= most; }

    std::vector<std::string> take()
    {
        if (others_ > 0) sentences_.push_back(std::to_string(others_) + " more lines are damaged");
        others_ = 0;
        return std::exchange(sentences_, {});
    }

  private:
    std::vector<std::string> sentences_;
    std::size_t others_ = 0;
};

// CSV (RFC 4180, without line ends in cells) as a whole table, read by column name. An incomplete last line is left
// out, so that the files of a killed run can be read. CsvLines reads large files.

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
