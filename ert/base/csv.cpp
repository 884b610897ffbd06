#include "ert/base/csv.hpp"

#include "ert/base/error.hpp"
#include "ert/base/text.hpp"

#include <csv.h>
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>

namespace roof {
namespace {

struct Reader {
    std::vector<std::string> row;
    std::vector<std::vector<std::string>> rows;
};

void end_of_cell(void* text, std::size_t length, void* reader)
{
    static_cast<Reader*>(reader)->row.emplace_back(static_cast<const char*>(text), length);
}

void end_of_row(int, void* reader)
{
    auto& r = *static_cast<Reader*>(reader);
    r.rows.push_back(std::move(r.row));
    r.row.clear();
}

/// Length of the text up to the last line end that is not inside quotes.
std::size_t complete_length(std::string_view text)
{
    std::size_t length = 0;
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '"') quoted = !quoted;
        if (text[i] == '\n' && !quoted) length = i + 1;
    }
    return length;
}

}  // namespace

std::size_t CsvTable::column(std::string_view name) const
{
    const auto found = std::ranges::find(header, name);
    if (found == header.end()) throw InputError(unknown_word("column", name, header));
    return static_cast<std::size_t>(found - header.begin());
}

bool CsvTable::has(std::string_view name) const
{
    return std::ranges::find(header, name) != header.end();
}

std::string csv_line(std::span<const std::string> cells)
{
    std::string line;
    for (const std::string& cell : cells) {
        if (!line.empty() || &cell != cells.data()) line += ',';
        if (cell.find_first_of(",\"\r\n") == std::string::npos) {
            line += cell;
            continue;
        }
        std::string quoted(2 * cell.size() + 2, '\0');
        quoted.resize(csv_write(quoted.data(), quoted.size(), cell.data(), cell.size()));
        line += quoted;
    }
    return line + '\n';
}

CsvTable parse_csv(std::string_view text, const std::string& name)
{
    CsvTable table;
    table.complete_bytes = complete_length(text);
    csv_parser parser{};
    if (csv_init(&parser, CSV_STRICT) != 0) throw InputError("the CSV parser could not be started");
    const std::unique_ptr<csv_parser, void (*)(csv_parser*)> guard(&parser, csv_free);
    Reader reader;
    const std::string_view complete = text.substr(0, table.complete_bytes);
    if (csv_parse(&parser, complete.data(), complete.size(), end_of_cell, end_of_row, &reader) != complete.size()) {
        throw InputError(fmt::format("{}: row {}: {}", name, reader.rows.size() + 1, csv_strerror(csv_error(&parser))));
    }
    if (reader.rows.empty()) return table;
    table.header = std::move(reader.rows.front());
    table.rows.assign(std::make_move_iterator(reader.rows.begin() + 1), std::make_move_iterator(reader.rows.end()));
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
        if (table.rows[i].size() == table.header.size()) continue;
        throw InputError(fmt::format("{}: row {} has {} cells, its header {}", name, i + 2, table.rows[i].size(),
                                     table.header.size()));
    }
    return table;
}

CsvTable read_csv(const std::filesystem::path& file)
{
    std::ifstream in(file, std::ios::binary);
    if (!in) throw InputError("cannot read " + file.string());
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    return parse_csv(text, file.string());
}

}  // namespace roof
