#include "analysis/table/fitted_text.hpp"

#include "ert/base/text.hpp"

#include <algorithm>
#include <set>

namespace roof::analysis {
namespace {

constexpr std::size_t narrowest = 20;  ///< columns below which nothing is made to fit
constexpr std::size_t shortest_name = 8;

std::vector<std::size_t> widths_of(const DataTable& table)
{
    std::vector<std::size_t> widths;
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
        widths.push_back(display_columns(table.columns[i].title));
        for (const DataTable::Row& row : table.rows)
            widths[i] = std::max(widths[i], display_columns(row.cells[i].text));
    }
    return widths;
}

std::size_t width_of(const DataTable& table)
{
    std::size_t width = 0;
    for (const std::size_t column : widths_of(table)) width += column + 2;
    return width < 2 ? 0 : width - 2;
}

bool has_numbers(const DataTable& table, std::size_t column)
{
    return std::ranges::any_of(table.rows, [&](const auto& row) { return row.cells[column].is_number; });
}

/// Numbers are aligned to the right, and what is absent among them.
bool is_right(const DataTable& table, std::size_t column, const Cell& cell)
{
    return cell.is_number || (cell.is_absent && has_numbers(table, column));
}

/// The width if the last column breaks between words: remarks stand there.
std::size_t least_width_of(const DataTable& table)
{
    const std::size_t whole = width_of(table);
    if (table.columns.empty() || has_numbers(table, table.columns.size() - 1)) return whole;
    const std::size_t last = widths_of(table).back();
    return whole - last + std::min(last, narrowest);
}

/// `most`: the columns within which the texts of the last column break; 0: unlimited.
std::string lines_of(const DataTable& table, std::size_t most)
{
    if (table.columns.empty()) return "\n";
    const std::vector<std::size_t> widths = widths_of(table);
    const std::size_t last = widths.size() - 1;
    const std::size_t before_last = width_of(table) - widths[last];
    const std::size_t of_last = most > 0 && width_of(table) > most ? most - before_last : 0;
    std::string text;
    const auto add_line = [&](const auto& text_at, const std::vector<Cell>& guides) {
        std::string line;
        for (std::size_t i = 0; i < widths.size(); ++i) {
            std::string cell = text_at(i);
            const std::string space(widths[i] - display_columns(cell), ' ');
            const bool right = is_right(table, i, guides.empty() ? Cell() : guides[i]);
            if (i == last && of_last > 0) {
                cell = fitted_lines(cell, static_cast<int>(of_last));
                for (std::size_t at = cell.find('\n'); at + 1 < cell.size(); at = cell.find('\n', at + 1))
                    cell.insert(at + 1, std::string(before_last, ' '));
                cell.pop_back();
                line += cell;
            } else
                line += (right ? space + cell : cell + space) + "  ";
        }
        text += line.erase(line.find_last_not_of(' ') + 1) + '\n';
    };
    // A heading is aligned as the first cell below it.
    add_line([&](std::size_t i) { return table.columns[i].title; },
             table.rows.empty() ? std::vector<Cell>() : table.rows.front().cells);
    for (const DataTable::Row& row : table.rows) add_line([&](std::size_t i) { return row.cells[i].text; }, row.cells);
    return text;
}

/// A line for each cell, "column  text", and an empty line between rows: for a table that is too wide in any other way.
std::string folded_rows(const DataTable& table, int columns)
{
    std::size_t widest = 0;
    for (const TableColumn& column : table.columns) widest = std::max(widest, display_columns(column.title));
    std::string text;
    for (const DataTable::Row& row : table.rows) {
        if (!text.empty()) text += "\n";
        for (std::size_t i = 0; i < table.columns.size(); ++i) {
            const std::string& title = table.columns[i].title;
            text += title + std::string(widest - display_columns(title) + 2, ' ') + row.cells[i].text + "\n";
        }
    }
    return fitted_lines(text, columns);
}

std::size_t count_distinct(const std::vector<std::string>& titles, const DataTable& table)
{
    std::set<std::vector<std::string>> kinds;
    for (const DataTable::Row& row : table.rows) {
        std::vector<std::string> texts;
        for (std::size_t i = 0; i < table.columns.size(); ++i)
            if (std::ranges::find(titles, table.columns[i].title) != titles.end()) texts.push_back(row.cells[i].text);
        kinds.insert(std::move(texts));
    }
    return kinds.size();
}

bool is_needed(const std::string& title, const DataTable& table)
{
    std::vector<std::string> others = table.identifying;
    if (std::erase(others, title) == 0) return false;
    return count_distinct(others, table) < count_distinct(table.identifying, table);
}

bool continues_letter(char byte)
{
    return (byte & 0xC0) == 0x80;
}

/// The size in bytes of the first `columns` characters.
std::size_t bytes_of(std::string_view text, std::size_t columns)
{
    std::size_t at = 0;
    while (at < text.size() && (columns > 0 || continues_letter(text[at]))) {
        if (!continues_letter(text[at])) --columns;
        ++at;
    }
    return at;
}

/// Cuts the texts of a column to the excess less, or to `shortest_name`.
void cut_texts(DataTable& table, std::size_t column, std::size_t excess)
{
    std::size_t longest = 0;
    for (const DataTable::Row& row : table.rows) longest = std::max(longest, display_columns(row.cells[column].text));
    const std::size_t most = std::max(shortest_name, longest - std::min(longest, excess));
    for (DataTable::Row& row : table.rows)
        if (std::string& text = row.cells[column].text; display_columns(text) > most)
            text = text.substr(0, bytes_of(text, most - 1)) + "~";
}

/// Where the value begins in "  key     value" or "name: value": the next lines of it begin there, too.
std::size_t hanging_indent(std::string_view line, std::size_t begin, std::size_t columns)
{
    const std::size_t gap = line.find("  ", begin);
    const std::size_t value = gap == std::string_view::npos ? gap : line.find_first_not_of(' ', gap);
    return value <= columns / 2 ? value : std::min(begin + 2, columns / 2);
}

std::string fitted_line(std::string_view line, std::size_t columns)
{
    const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
    const std::string indent(hanging_indent(line, begin, columns), ' ');
    std::string text;
    std::string now(begin, ' ');
    bool is_empty = true;
    for (std::string word : split(line.substr(begin), ' ')) {
        if (!is_empty && display_columns(now) + 1 + display_columns(word) > columns) {
            text += now.erase(now.find_last_not_of(' ') + 1) + "\n";
            now = indent;
            is_empty = true;
        }
        if (is_empty && display_columns(word) <= columns)  // a smaller indent rather than a broken word
            now.resize(std::min(now.size(), columns - display_columns(word)));
        while (display_columns(now) + display_columns(word) > columns) {
            const std::size_t bytes = bytes_of(word, columns - display_columns(now));
            text += now + word.substr(0, bytes) + "\n";
            word = word.substr(bytes);
            now = indent;
        }
        now += (is_empty ? "" : " ") + word;
        is_empty = false;
    }
    return text + now + "\n";
}

}  // namespace

std::size_t display_columns(std::string_view text)
{
    return static_cast<std::size_t>(std::ranges::count_if(text, [](char byte) { return !continues_letter(byte); }));
}

DataTable fitted(const DataTable& table, int columns)
{
    DataTable fitting = visible_in(Shown::terminal, table);
    for (DataTable::Row& row : fitting.rows)
        for (Cell& cell : row.cells) cell.text = printable(cell.text);
    if (columns <= 0) return fitting;
    const std::size_t most = std::max(narrowest, static_cast<std::size_t>(columns));
    std::string common;
    for (std::size_t i = 0; i + 1 < fitting.columns.size() && fitting.rows.size() > 1;) {
        if (width_of(fitting) <= most || !is_constant(fitting, i)) {
            ++i;
            continue;
        }
        if (const Cell& cell = fitting.rows.front().cells[i]; !cell.is_absent)
            common += (common.empty() ? "all: " : ", ") + fitting.columns[i].title + " " + cell.text;
        erase_column(fitting, i);
    }
    if (!common.empty()) fitting.title += (fitting.title.empty() ? "" : "; ") + common;
    for (const std::string& title : table.expendable) {
        const auto column = std::ranges::find(fitting.columns, title, &TableColumn::title);
        if (width_of(fitting) > most && column != fitting.columns.end() && !is_needed(title, fitting))
            erase_column(fitting, static_cast<std::size_t>(column - fitting.columns.begin()));
    }
    for (std::size_t i = 0; i + 1 < fitting.columns.size(); ++i)  // remarks stand last and stay whole
        if (const std::size_t width = least_width_of(fitting); width > most && !has_numbers(fitting, i))
            cut_texts(fitting, i, width - most);
    return fitting;
}

std::string to_text(const DataTable& table, int columns)
{
    const DataTable fitting = fitted(table, columns);
    const std::size_t most = columns <= 0 ? 0 : std::max(narrowest, static_cast<std::size_t>(columns));
    const bool fits = most == 0 || least_width_of(fitting) <= most;
    const std::string& title = fits ? fitting.title : table.title;
    return (title.empty() ? "" : fitted_lines(title + "\n", columns)) +
           (fits ? lines_of(fitting, most) : folded_rows(fitted(table, 0), columns));
}

std::string fitted_lines(std::string_view text, int columns)
{
    if (columns <= 0 || text.empty()) return std::string(text);
    const std::size_t most = std::max(narrowest, static_cast<std::size_t>(columns));
    std::string out;
    if (text.ends_with('\n')) text.remove_suffix(1);
    for (const std::string& line : split(text, '\n'))
        out += display_columns(line) <= most ? line + "\n" : fitted_line(line, most);
    return out;
}

std::string listed(const std::string& heading, const std::vector<std::string>& items)
{
    std::string text;
    for (const std::string& item : items) text += "  " + printable(item) + "\n";
    return text.empty() ? text : heading + "\n" + text;
}

std::string fitted_items(const std::string& begin, const std::vector<std::string>& items, int columns)
{
    const std::size_t most = std::max<std::size_t>(narrowest, static_cast<std::size_t>(std::max(0, columns)));
    std::string text;
    std::string line = begin;
    for (const std::string& item : items) {
        const bool full = columns > 0 && display_columns(line) + 2 + display_columns(item) > most;
        if (full) text += line + "\n";
        line = (full ? "  " : line) + "  " + item;
    }
    return text + line + "\n";
}

}  // namespace roof::analysis
