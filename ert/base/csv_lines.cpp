#include "ert/base/csv_lines.hpp"

#include "ert/base/error.hpp"

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

bool CsvLines::next()
{
    cells_.clear();
    const bool read = static_cast<bool>(std::getline(csv_, line_));
    if (!read || csv_.eof()) {
        cut_off_ = read && !line_.empty();
        return false;
    }
    ++number_;
    if (line_.size() > longest_line) throw InputError(where() + ": a line is longer than 16 MiB");
    if (!line_.empty() && line_.back() == '\r') line_.pop_back();
    split();
    return true;
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
