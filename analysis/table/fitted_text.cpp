#include "analysis/table/fitted_text.hpp"

#include "ert/base/text.hpp"

#include <algorithm>
#include <set>

namespace roof::analysis {

namespace {

using Cells = std::vector<std::string>;

constexpr std::size_t narrowest = 20;  ///< columns below which nothing is made to fit
constexpr std::size_t shortest_name = 8;

std::string table_text(const Cells& header, const std::vector<Cells>& rows)
{
    Table table(header);
    for (const Cells& row : rows) table.add(row);
    return table.text();
}

std::size_t widest_line(const std::string& text)
{
    std::size_t widest = 0;
    for (const std::string& line : split(text, '\n')) widest = std::max(widest, display_columns(line));
    return widest;
}

void leave_out(std::size_t column, Cells& header, std::vector<Cells>& rows)
{
    const auto at = static_cast<std::ptrdiff_t>(column);
    header.erase(header.begin() + at);
    for (Cells& row : rows) row.erase(row.begin() + at);
}

/// Is the column the same in every row?
bool says_one_thing(const std::string& name, const Cells& header, const std::vector<Cells>& rows)
{
    const auto column = static_cast<std::size_t>(std::ranges::find(header, name) - header.begin());
    return column < header.size() &&
           std::ranges::all_of(rows, [&](const Cells& row) { return row[column] == rows.front()[column]; });
}

/// How many rows there are that differ in these columns.
std::size_t told_apart(const Cells& telling, const Cells& header, const std::vector<Cells>& rows)
{
    std::set<Cells> kinds;
    for (const Cells& row : rows) {
        Cells words;
        for (std::size_t i = 0; i < header.size(); ++i)
            if (std::ranges::find(telling, header[i]) != telling.end()) words.push_back(row[i]);
        kinds.insert(std::move(words));
    }
    return kinds.size();
}

/// Does this column alone tell two rows apart?
bool is_needed(const std::string& name, const Cells& telling, const Cells& header, const std::vector<Cells>& rows)
{
    Cells others = telling;
    if (std::erase(others, name) == 0) return false;
    return told_apart(others, header, rows) < told_apart(telling, header, rows);
}

bool continues_letter(char byte)
{
    return (byte & 0xC0) == 0x80;
}

/// The bytes of the first `columns` letters.
std::size_t bytes_of(std::string_view text, std::size_t columns)
{
    std::size_t at = 0;
    while (at < text.size() && (columns > 0 || continues_letter(text[at]))) {
        if (!continues_letter(text[at])) --columns;
        ++at;
    }
    return at;
}

void cut_names(std::vector<Cells>& rows, std::size_t excess)
{
    std::size_t longest = 0;
    for (const Cells& row : rows) longest = std::max(longest, display_columns(row.front()));
    const std::size_t most = std::max(shortest_name, longest - std::min(longest, excess));
    for (Cells& row : rows)
        if (std::string& name = row.front(); display_columns(name) > most)
            name = name.substr(0, bytes_of(name, most - 1)) + "~";
}

std::string fitted_line(std::string_view line, std::size_t columns)
{
    const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
    const std::string indent(std::min(begin + 2, columns / 2), ' ');
    std::string text;
    std::string now(begin, ' ');
    bool is_empty = true;
    for (std::string word : split(line.substr(begin), ' ')) {
        if (!is_empty && display_columns(now) + 1 + display_columns(word) > columns) {
            text += now + "\n";
            now = indent;
            is_empty = true;
        }
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

std::string fitted_table(const Cells& header, const std::vector<Cells>& rows, const Cells& expendable, int columns,
                         const Cells& telling)
{
    Cells kept = header;
    std::vector<Cells> cells = rows;
    const std::size_t most = std::max<std::size_t>(narrowest, static_cast<std::size_t>(std::max(0, columns)));
    std::string text = table_text(kept, cells);
    if (columns <= 0) return text;
    Cells order = expendable;
    std::ranges::stable_partition(order, [&](const std::string& name) { return says_one_thing(name, header, rows); });
    for (const std::string& name : order) {
        if (widest_line(text) <= most) break;
        const auto at = std::ranges::find(kept, name);
        if (at == kept.end() || is_needed(name, telling, kept, cells)) continue;
        leave_out(static_cast<std::size_t>(at - kept.begin()), kept, cells);
        text = table_text(kept, cells);
    }
    if (const std::size_t wide = widest_line(text); wide > most) {
        cut_names(cells, wide - most);
        text = table_text(kept, cells);
    }
    return text;
}

std::string fitted_lines(std::string_view text, int columns)
{
    if (columns <= 0) return std::string(text);
    const std::size_t most = std::max<std::size_t>(narrowest, static_cast<std::size_t>(columns));
    std::string out;
    if (text.ends_with('\n')) text.remove_suffix(1);
    for (const std::string& line : split(text, '\n'))
        out += display_columns(line) <= most ? line + "\n" : fitted_line(line, most);
    return out;
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
