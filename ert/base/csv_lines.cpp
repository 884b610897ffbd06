#include "ert/base/csv_lines.hpp"

#include "ert/base/error.hpp"
#include "ert/base/files.hpp"
#include "ert/base/text.hpp"

#include <csv.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <sstream>

namespace roof {
namespace {

constexpr std::size_t longest_line = std::size_t{16} << 20;

/// Whether nothing is wrong with the lines up to the end of the first block, or without blocks with the first line.
bool begins_whole(const std::string& text, bool has_blocks)
{
    std::istringstream csv(text);
    CsvLines lines(csv, {});
    std::string what;
    for (lines.next(what); what.empty() && lines.next(what);) {
        if (!what.empty() || !lines.block_damage().empty()) return false;
        if (lines.ends_block() || !has_blocks) return true;
    }
    return false;
}

}  // namespace

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
        const bool is_whole = csv_.good();
        if (!is_whole && count + 1 < piece.size()) return false;  // it cannot be read
        bytes_ += count;
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
    checksum_.clear();
    if (!read_line()) {
        has_ended_ = true;
        return false;
    }
    ++number_;
    if (number_ == 1) read_kind();
    if (kind_ != Kind::none) take_checksum();
    crc_ = crc32_of(line_);
    if (kind_ == Kind::block) add_to_block();
    if (!line_.empty() && line_.back() == '\r') line_.pop_back();
    split();
    if (number_ == 1) width_ = cells_.size();
    return true;
}

bool CsvLines::next(std::string& what)
{
    try {
        const bool is_line = next();
        what = cell_damage();
        return is_line;
    } catch (const InputError& error) {
        what = error.what();
        return true;
    }
}

void CsvLines::read_kind()
{
    kind_ = has_column(line_, block_column) ? Kind::block
            : has_column(line_, row_column) ? Kind::row
            : has_column(line_, "crc32")    ? Kind::older
                                            : Kind::none;
    const std::size_t colon = line_.find(':', line_.rfind(','));
    if (!has_checksums() || colon == std::string::npos) return;
    run_ = line_.substr(colon + 1);
    header_ = crc32_of(line_);
}

void CsvLines::take_checksum()
{
    const std::size_t comma = line_.rfind(',');
    if (comma == std::string::npos) return;
    checksum_.assign(line_, comma + 1);
    line_.resize(comma);
}

void CsvLines::add_to_block()
{
    if (number_ == 1) {
        before_ = crc_;
        return;
    }
    if (!block_ || ended_block_) block_.emplace(before_);
    block_->add(crc_, name_, number_);
    ended_block_ = !checksum_.empty();
    before_ = crc32_of(checksum_);  // of the next block, if this one has ended
}

std::string CsvLines::damage() const
{
    std::string damage = cell_damage();
    return damage.empty() ? block_damage() : damage;
}

std::string CsvLines::cell_damage() const
{
    if (has_ended_ || cells_.size() == width_) return {};
    return fmt::format("{}: {} cells, its header has {}", where(), cells_.size(), width_);
}

std::string CsvLines::block_damage() const
{
    if (!ends_block()) return {};
    if (!has_ended_) return block_->damage(checksum_, header_);
    return fmt::format("{}:{}: from here on the lines have no checksum: they were cut off, or are still written", name_,
                       block_->first_line());
}

/// By libcsv: cells as RFC 4180 has them, with their blanks. Any letter but the separator and quotes belongs to a cell.
void CsvLines::split()
{
    struct Found {
        std::string& text;
        std::vector<std::size_t> ends;
    } found{text_, {}};
    text_.clear();
    const auto add = [](void* cell, std::size_t size, void* to) {
        auto& [text, ends] = *static_cast<Found*>(to);
        text.append(static_cast<const char*>(cell), size);
        ends.push_back(text.size());
    };
    csv_parser parser;
    csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI);
    const std::unique_ptr<csv_parser, decltype(&csv_free)> owner(&parser, csv_free);
    csv_set_delim(&parser, static_cast<unsigned char>(separator_));
    csv_set_space_func(&parser, [](unsigned char) { return 0; });
    csv_set_term_func(&parser, [](unsigned char) { return 0; });
    const bool is_sound = csv_parse(&parser, line_.data(), line_.size(), add, nullptr, &found) == line_.size() &&
                          csv_fini(&parser, add, nullptr, &found) == 0;
    if (!is_sound) throw InputError(where() + ": a quote is opened and not closed, or stands within a cell");
    if (found.ends.empty()) found.ends.push_back(0);
    std::size_t begin = 0;
    for (const std::size_t end : found.ends) {
        cells_.emplace_back(text_.data() + begin, end - begin);
        begin = end;
    }
}

void check_run(const CsvLines& lines, const std::string& run)
{
    if (lines.run() == run) return;
    throw InputError(fmt::format("{}:1: it is of {}, and machine.yaml of {}", lines.name(),
                                 lines.run().empty() ? "no run" : "the run " + printable(lines.run()),
                                 run.empty() ? "none" : "the run " + printable(run)));
}

void read_lines_of(const std::filesystem::path& file, const std::string& header,
                   const std::function<void(const CsvLines&)>& check_header, const std::function<void(CsvLines&)>& read,
                   const std::function<void(const std::string&, bool)>& tell)
{
    std::ifstream csv = open_to_read(file);
    CsvLines lines(csv, file.string());
    std::string damage;
    try {
        lines.next();
        check_header(lines);
    } catch (const InputError& error) {
        damage = error.what();
    }
    if (damage.empty()) return read(lines);
    const std::optional<std::string> mended = with_header(read_file(file), header);
    tell(damage, !mended);
    if (!mended) return;
    std::istringstream text(*mended);
    CsvLines again(text, file.string());
    again.next();
    check_header(again);
    read(again);
}

std::optional<std::string> with_header(std::string_view text, const std::string& header)
{
    const std::size_t end = text.find('\n');
    const std::string_view first = text.substr(0, end);
    const std::string_view rest = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    const bool has_blocks = has_column(header, block_column);
    const bool is_row = first.find(' ') < first.find(',');  // ids have blanks
    for (const std::string_view lines : {is_row ? text : rest, is_row ? rest : text})
        if (std::string whole = header + "\n" + std::string(lines); begins_whole(whole, has_blocks)) return whole;
    return std::nullopt;
}

std::size_t CsvTable::column(std::string_view name) const
{
    const auto found = std::ranges::find(header, name);
    if (found == header.end()) throw InputError(unknown_word("column", name, header));
    return static_cast<std::size_t>(found - header.begin());
}

void append_csv_cell(std::string& line, std::string_view cell)
{
    if (cell.find_first_of(",\"\r\n") == std::string_view::npos) {
        line += cell;
        return;
    }
    line += '"';
    for (const char letter : cell) {
        if (letter == '"') line += '"';
        line += letter == '\n' || letter == '\r' ? ' ' : letter;
    }
    line += '"';
}

std::string csv_line(std::span<const std::string> cells)
{
    std::string line;
    for (const std::string& cell : cells) {
        if (&cell != cells.data()) line += ',';
        append_csv_cell(line, cell);
    }
    return line + '\n';
}

CsvTable parse_csv(const std::string& text, const std::string& name)
{
    std::istringstream csv(text);
    CsvTable table;
    CsvLines lines(csv, name);
    if (!lines.next()) return table;
    table.header.assign(lines.cells().begin(), lines.cells().end());
    for (;;) {
        const bool is_line = lines.next();
        if (const std::string damage = lines.damage(); !damage.empty()) throw InputError(damage);
        if (!is_line) return table;
        table.rows.emplace_back(lines.cells().begin(), lines.cells().end());
    }
}

double number_in_cell(const std::string& cell, const std::string& where)
{
    const std::optional<double> value = parse_number<double>(cell);
    if (!value) throw InputError(where + ": '" + printable(cell) + "' is not a number");
    return *value;
}

}  // namespace roof
