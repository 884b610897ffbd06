// The table model. A column has a heading for people, a key for programs, or both; a cell has a text and a value. The
// terminal (fitted_text.hpp), the page (html.hpp), CSV and JSON (to_csv, to_json) render the same table.
#pragma once

#include "ert/base/estimate.hpp"
#include "ert/base/units.hpp"

#include <nlohmann/json_fwd.hpp>

#include <algorithm>
#include <concepts>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace roof::analysis {

/// The value for programs. monostate is a missing number; it is written as null, never as zero.
using Value = std::variant<std::monostate, bool, long long, double, std::string, Spread>;

struct Cell {
    Value value{};
    std::string text{};
    bool is_number = false;   ///< right-aligned
    bool is_absent = false;   ///< nothing to show: "-"
    bool is_warning = false;  ///< highlighted on the page
    std::string html{};       ///< replaces `text` on the page
    bool spans_rest = false;  ///< on the page, this cell takes the rest of its row
};

Cell absent();
/// A name. Empty text stays empty.
Cell word(std::string_view text);
/// A name; absent() if it is empty.
Cell name_cell(std::string_view name);
/// Different texts for people and for programs.
Cell word(std::string_view text, std::string_view value);
/// A number for programs, and `text` for people. Infinities and NaN have no value.
Cell number(double value, std::string text = "");
Cell plain(double value);
Cell seconds(Seconds time);
/// A number with an SI prefix: "1.23 GB".
Cell amount(double value, std::string_view unit);
Cell share(double share);
Cell truth(bool value);
/// `text`: for people in place of the digits.
template <std::integral Count>
Cell count(Count value, const std::string& text = "")
{
    return {static_cast<long long>(value), text.empty() ? std::to_string(value) : text, true};
}
/// "12.3 ms [12.0, 12.5]". The key of its column has a `*`, which becomes median, low and high: "time_*_s".
Cell range(const Spread& ends, std::string_view unit);
/// The cell, or absent() if the number is unknown.
Cell only_if(bool is_known, Cell cell);
Cell warning_if(bool is_warning, Cell cell);
/// Text for people only, aligned like a number.
Cell numeric_text(std::string text);

enum class Shown { everywhere, terminal, page };  ///< where people see it

struct TableColumn {
    std::string title;  ///< empty: for programs only
    std::string key;    ///< key with its unit; empty: for people only
    Shown shown = Shown::everywhere;
};

struct DataTable {
    struct Row {
        std::vector<Cell> cells;  ///< one for each column
        bool is_for_programs_only = false;
    };
    std::string title{};
    std::string note{};  ///< a sentence above the table
    std::vector<TableColumn> columns{};
    std::vector<Row> rows{};
    /// Titles of the columns that a narrow window leaves out, in this order. Columns in `identifying` stay if they
    /// alone distinguish two rows.
    std::vector<std::string> expendable{};
    std::vector<std::string> identifying{};

    /// Whether the table has no rows for people.
    bool empty() const { return std::ranges::all_of(rows, &Row::is_for_programs_only); }
    /// The index of the column with this title, or else with this key. Throws std::out_of_range.
    std::size_t column(std::string_view name) const;
    const Cell& cell(std::size_t row, std::string_view name) const { return rows.at(row).cells.at(column(name)); }
};

/// A column, and how to read its cell from a row of data.
template <class Row>
struct ColumnOf {
    std::string title;
    std::string key;
    std::function<Cell(const Row&)> read;
    Shown shown = Shown::everywhere;
};

/// `table`: what is said about it; columns and rows are added.
template <class Row>
DataTable table_of(const std::vector<ColumnOf<Row>>& columns, const std::vector<Row>& rows, DataTable table = {})
{
    for (const auto& column : columns) table.columns.push_back({column.title, column.key, column.shown});
    for (const Row& row : rows) {
        table.rows.emplace_back();
        for (const auto& column : columns) table.rows.back().cells.push_back(column.read(row));
    }
    return table;
}

/// A table of texts for people: its titles, and rows of as many cells. A text that begins with a digit, a sign or '<'
/// is aligned like a number. Throws std::logic_error for a row of another length.
DataTable text_table(const std::vector<std::string>& titles, const std::vector<std::vector<std::string>>& rows);

bool is_constant(const DataTable& table, std::size_t column);
void erase_column(DataTable& table, std::size_t column);
/// Hides a column, or all columns, in which every cell is absent, from people.
void hide_if_empty(DataTable& table, std::string_view title);
void drop_empty_columns(DataTable& table);
/// The columns and rows that people see in the terminal or on the page.
DataTable visible_in(Shown sink, DataTable table);
/// The same table with every column shown to people: a column for programs only has its key as title. Columns with one
/// text in all rows are left out.
DataTable for_reading(DataTable table);
/// Appends the rows of `more` under the columns of both, told apart by key, else by title; a cell that a table lacks is
/// absent.
void append(DataTable& table, DataTable more);

/// "version" of the documents of `run`, `report` and `estimate`: raised when a key changes its name or meaning.
inline constexpr int json_version = 2;

/// The text of a document: ASCII only, with invalid UTF-8 replaced. `indent`: -1 for one line.
std::string json_document(const nlohmann::json& document, int indent);
/// null for infinities and NaN.
nlohmann::json json_number(double value);
/// `value` with invalid UTF-8 replaced, because names come from files.
std::string json_text(const std::string& value);
/// The same; null for an empty text.
nlohmann::json text_or_null(const std::string& value);
nlohmann::json json_texts(const std::vector<std::string>& texts);

/// {"median", "low", "high"}
nlohmann::json to_json(const Spread& ends);
/// Foreign text for a cell of a CSV: a spreadsheet would compute what begins with one of "=+-@", a tab or a carriage
/// return, so an apostrophe stands before it.
std::string exported_text(const std::string& text);
/// Foreign text between quotation marks, of a label of Prometheus or a text of Python: a backslash stands before them
/// and before a backslash.
std::string label_text(const std::string& text);
/// The columns with a key as CSV. Numbers read back exactly; null is an empty cell.
std::string to_csv(const DataTable& table);
/// [{key: value, …}, …]
nlohmann::json to_json(const DataTable& table);

}  // namespace roof::analysis
