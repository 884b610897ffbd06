// Checksums of the lines of CSV files. The last column, `crc32`, is the CRC-32 (that of zlib, PNG and gzip) of the file from its first
// byte to the end of the line, without this column. So a line that is changed, lost, repeated or moved does not match. In Python:
//   crc = zlib.crc32((line.rsplit(",", 1)[0] + "\n").encode(), crc)      for each line; the cell is f"{crc:08x}"
// A file without the column is read without this check.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace roof {

inline constexpr std::string_view checksum_column = "crc32";

/// The CRC-32 of a text that follows a text with the CRC-32 `before`.
std::uint32_t crc32_of(std::string_view text, std::uint32_t before = 0);

/// Eight hexadecimal digits.
std::string checksum_text(std::uint32_t crc);
/// None for any other text.
std::optional<std::uint32_t> parse_checksum(std::string_view cell);

/// Appends complete lines, with their checksums, in one flushed write. A missing or empty file gets `header` first. Neither has the
/// column of the checksums. Throws InputError, such as for a full disk; then nothing is written.
void append_lines(const std::filesystem::path& file, const std::string& header, std::string_view lines);

/// `text` with its checksums written anew: a file without the column gets it. An unfinished last line is unchanged.
std::string with_checksums(std::string_view text);

/// `text` with `header` as its first line, in place of the one that stands there or before it, if the checksum of the line after it then
/// matches; else none. For a file whose first line is damaged or lost. `header`: complete, without the column of the checksums.
std::optional<std::string> with_header(std::string_view text, std::string_view header);

/// The checksum at the end of the first `bytes` bytes of a file; none if there is no complete line with one.
std::optional<std::uint32_t> checksum_at(const std::filesystem::path& file, std::uintmax_t bytes);

}  // namespace roof
