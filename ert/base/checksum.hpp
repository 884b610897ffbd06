// Checksums of CSV files. Lines that are written together form a block. The last column holds the checksum of the block
// in its last line, and nothing in the others. The checksum covers the lines of the block, each without this column and
// its line end, and what stands before them: the checksum of the block before, or for the first block the header. In a
// folder whose machine.yaml states a run (format 3), the last column's name ends with a colon and that run, and the
// header, with this column, counts as another line at the end of each block. A line that is changed, lost, repeated or
// moved, or of another run, does not match. In Python:
//   total = 0
//   for line in [before, *lines, *([header] if run else [])]:
//       total = (total * 0x5DEECE66D + zlib.crc32(line.encode())) % 2**48
//   checksum = base64.urlsafe_b64encode(total.to_bytes(6, "big")).decode()
// The multiplier and the modulus are those of drand48. csv_lines.hpp reads such files; a file without the column is
// read without this check.
//
// A row of a results folder is a block, too: its line of measurements.csv; if it has samples, the header of samples.csv
// and its lines there; if it has layers, the header of layers.csv and its lines there. Those lines are short, and a
// checksum in each would take several percent of a folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace roof {

inline constexpr std::string_view block_column = "block_checksum";
/// In measurements.csv, whose checksums cover lines of other files, too.
inline constexpr std::string_view row_column = "row_checksum";

/// That of zlib, PNG and gzip.
std::uint32_t crc32_of(std::string_view text);
/// Of their bytes.
template <class Number>
std::uint32_t crc32_of(std::span<Number> numbers)
{
    return crc32_of({reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes()});
}

/// The checksum of a block of lines.
class BlockSum {
  public:
    /// The CRC-32 of the next line.
    void add(std::uint32_t crc);
    void add_line(std::string_view line) { add(crc32_of(line)); }
    /// Eight characters of base 64, of those for URLs.
    std::string text() const;
    /// The number, from 1, of the one line whose change explains that the checksum is not `stated`; 0 if there is none,
    /// or more than one.
    std::size_t changed_line(std::string_view stated) const;

  private:
    std::uint64_t total_ = 0;
    std::size_t count_ = 0;
};

/// The lines of a block and where they stand, while they are read.
class Block {
  public:
    /// `before`: the CRC-32 of what stands before.
    explicit Block(std::uint32_t before) { sum_.add(before); }

    /// Adds the next line. Before the first one of another file than the block's own, the CRC-32 `header` of that
    /// file's header is added. `file`, its name, must outlive the block.
    void add(std::uint32_t crc, std::string_view file, std::size_t line, std::uint32_t header = 0);

    /// What is wrong, if `stated` is its checksum: a sentence that begins with file and line. Empty if nothing is.
    /// `run_header`: the CRC-32 of the header that ends the block; none in format 2.
    std::string damage(std::string_view stated, std::optional<std::uint32_t> run_header) const;
    std::size_t first_line() const { return places_.front().first; }

  private:
    struct Place {
        std::string_view file;
        std::size_t first = 0;  ///< number of the first line
        std::size_t count = 0;
    };

    BlockSum sum_;
    std::vector<Place> places_;  ///< the first is the block's own file
};

/// What the folder's machine.yaml states in its second line; empty in format 2, and without the file.
std::string run_of(const std::filesystem::path& folder);

/// The header with the column `name`, block_column or row_column, of this run, without line end.
std::string with_column(std::string_view header, std::string_view name, std::string_view run = {});

/// Whether this column is the header's last one.
bool has_column(std::string_view header, std::string_view name);

/// Adds the lines of other files that the checksum of this line covers.
using AddOthers = std::function<void(std::string_view line, BlockSum& sum)>;

/// Appends complete lines as blocks, of the run of the file's folder, in one flushed write. A missing or empty file
/// gets `header` first. Neither has the column of the checksums, nor has `header` a line end. With `add_others` each
/// line is a block in row_column. Throws InputError, such as for a full disk or an unfinished block; then nothing is
/// written.
void append_block(const std::filesystem::path& file, std::string_view header, std::string_view lines,
                  const AddOthers& add_others = nullptr);

/// `text` with its checksums written anew, for this run. A text without the column gets it. An unfinished last line is
/// unchanged.
std::string with_checksums(std::string_view text, std::string_view run = {}, const AddOthers& add_others = nullptr);

/// The checksum at the end of the first `bytes` bytes of a file with checksums; none if there is no complete line with
/// one.
std::optional<std::string> last_checksum(const std::filesystem::path& file, std::uintmax_t bytes);

/// Calls `take` for each complete line of `text`, without its line end.
template <class Take>
void for_lines(std::string_view text, const Take& take)
{
    for (std::size_t begin = 0, end = 0; (end = text.find('\n', begin)) != std::string_view::npos; begin = end + 1)
        take(text.substr(begin, end - begin));
}

}  // namespace roof
