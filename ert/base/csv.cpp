#include "ert/base/csv.hpp"

#include "ert/base/csv_lines.hpp"
#include "ert/base/error.hpp"
#include "ert/base/number.hpp"
#include "ert/base/text.hpp"

#include <algorithm>
#include <sstream>

namespace roof {

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
