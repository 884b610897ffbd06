#include "ert/base/csv_lines.hpp"

#include "ert/base/checksum.hpp"
#include "ert/base/error.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace roof {
namespace {

constexpr std::size_t longest_line = std::size_t{16} << 20;

}  // namespace

CsvLines::CsvLines(std::istream& csv, std::string name, char separator)
    : csv_(csv), name_(std::move(name)), separator_(separator)
{
}

std::string CsvLines::where() const
{
    return name_ + ":" + std::to_string(number_);
}

/// Reads in pieces, so that a file without line ends takes no more memory than the longest line.
bool CsvLines::read_line()
{
    line_.clear();
    std::array<char, 4096> piece;
    for (;;) {
        csv_.getline(piece.data(), piece.size());
        const auto count = static_cast<std::size_t>(csv_.gcount());
        if (csv_.eof()) {
            cut_off_ = !line_.empty() || count > 0;
            return false;
        }
        if (csv_.bad() || count == 0) return false;
        bytes_ += count;
        const bool is_whole = !csv_.fail();
        line_.append(piece.data(), is_whole ? count - 1 : count);  // the count includes the line end
        if (line_.size() > longest_line)
            throw InputError(name_ + ":" + std::to_string(number_ + 1) + ": a line is longer than 16 MiB");
        if (is_whole) return true;
        csv_.clear();
    }
}

bool CsvLines::next()
{
    cells_.clear();
    if (!read_line()) return false;
    ++number_;
    if (number_ == 1) has_checksums_ = line_.ends_with("," + std::string(checksum_column));
    if (has_checksums_) check();
    if (!line_.empty() && line_.back() == '\r') line_.pop_back();
    split();
    if (number_ == 1) width_ = cells_.size();
    return true;
}

std::string CsvLines::damage() const
{
    if (cells_.size() != width_) return fmt::format("{} cells, its header has {}", cells_.size(), width_);
    if (!matches_)
        return "it does not match its checksum: it was changed, or a line before it is missing, repeated or moved";
    return {};
}

/// Compares the checksum and removes it from the line.
void CsvLines::check()
{
    const std::size_t comma = line_.rfind(',');
    const std::size_t length = comma == std::string::npos ? line_.size() : comma;
    const std::uint32_t crc = crc32_of("\n", crc32_of(std::string_view(line_).substr(0, length), crc_));
    if (number_ == 1) {
        crc_ = crc;
    } else {
        const auto stated =
            length < line_.size() ? parse_checksum(std::string_view(line_).substr(length + 1)) : std::nullopt;
        matches_ = stated == crc;
        crc_ = stated.value_or(crc);
    }
    line_.resize(length);
}

/// Removes quotes in place.
void CsvLines::split()
{
    char* const text = line_.data();
    std::size_t begin = 0, end = 0;
    bool quoted = false;
    for (std::size_t i = 0; i < line_.size(); ++i) {
        const char letter = text[i];
        if (letter == '"' && quoted && i + 1 < line_.size() && text[i + 1] == '"') {
            text[end++] = text[i++];
        } else if (letter == '"') {
            quoted = !quoted;
        } else if (letter == separator_ && !quoted) {
            cells_.emplace_back(text + begin, end - begin);
            begin = end = i + 1;
        } else {
            text[end++] = letter;
        }
    }
    if (quoted) throw InputError(where() + ": a quote is opened and not closed");
    cells_.emplace_back(text + begin, end - begin);
}

}  // namespace roof
