#include "analysis/table/table.hpp"

#include "analysis/table/html.hpp"
#include "analysis/table/quantities.hpp"
#include "ert/base/csv_lines.hpp"
#include "ert/base/ranges.hpp"
#include "ert/base/text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace roof::analysis {

using nlohmann::json;

namespace {

/// The keys of all columns; "time_*_s" becomes time_median_s, time_low_s and time_high_s.
std::vector<std::string> keys_of(const DataTable& table)
{
    std::vector<std::string> keys;
    for (const TableColumn& column : table.columns) {
        const std::size_t star = column.key.find('*');
        if (star == std::string::npos && !column.key.empty()) keys.push_back(column.key);
        for (const char* part : {"median", "low", "high"})
            if (star != std::string::npos) keys.push_back(std::string(column.key).replace(star, 1, part));
    }
    return keys;
}

json json_of(const Value& value)
{
    if (const auto* truth = std::get_if<bool>(&value)) return *truth;
    if (const auto* count = std::get_if<long long>(&value)) return *count;
    if (const auto* number = std::get_if<double>(&value)) return json_number(*number);
    if (const auto* text = std::get_if<std::string>(&value)) return json_text(*text);
    return nullptr;
}

std::vector<json> values_of(const DataTable& table, const DataTable::Row& row)
{
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    std::vector<json> values;
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
        const std::string& key = table.columns[i].key;
        const Value& value = row.cells[i].value;
        if (key.find('*') != std::string::npos) {
            const auto* known = std::get_if<Spread>(&value);
            const Spread ends = known != nullptr ? *known : Spread{nan, nan, nan};
            for (const double end : {ends.median, ends.low, ends.high}) values.push_back(json_number(end));
        } else if (!key.empty()) {
            values.push_back(json_of(value));
        }
    }
    return values;
}

std::string csv_cell(const json& value)
{
    if (value.is_null()) return {};
    if (value.is_string()) return exported_text(value.get_ref<const std::string&>());
    return value.is_number_float() ? format_exact(value.get<double>()) : value.dump();
}

}  // namespace

std::string exported_text(const std::string& text)
{
    const bool is_formula = !text.empty() && std::string_view("=+-@\t\r").find(text[0]) != std::string_view::npos;
    return (is_formula ? "'" : "") + printable(text);
}

std::string label_text(const std::string& text)
{
    return with_replaced(printable(text), {{'\\', R"(\\)"}, {'"', R"(\")"}});
}

json json_number(double value)
{
    return std::isfinite(value) ? json(value) : json(nullptr);
}

std::string json_document(const json& document, int indent)
{
    return document.dump(indent, ' ', true, json::error_handler_t::replace);
}

std::string json_text(const std::string& value)
{
    const std::string quoted = json_document(value, -1);
    return json::parse(quoted).get<std::string>();
}

json text_or_null(const std::string& value)
{
    return value.empty() ? json(nullptr) : json(json_text(value));
}

json json_texts(const std::vector<std::string>& texts)
{
    return mapped(texts, json_text);
}

Cell absent()
{
    return {.text = "-", .is_absent = true};
}

Cell word(std::string_view text)
{
    return word(text, text);
}

Cell word(std::string_view text, std::string_view value)
{
    return {.value = std::string(value), .text = std::string(text)};
}

Cell name_cell(std::string_view name)
{
    return name.empty() ? absent() : word(name);
}

Cell number(double value, std::string text)
{
    return {std::isfinite(value) ? Value(value) : Value(), std::move(text), true};
}

Cell plain(double value)
{
    return number(value, plain_number(value));
}

Cell seconds(Seconds time)
{
    return number(time.value, format_duration(time.value));
}

Cell amount(double value, std::string_view unit)
{
    return number(value, format_si(value, unit));
}

Cell share(double share)
{
    return number(share, percent(share));
}

Cell truth(bool value)
{
    return {value, value ? "yes" : "no"};
}

Cell range(const Spread& ends, std::string_view unit)
{
    return {ends, with_interval(ends, unit), true};
}

Cell only_if(bool is_known, Cell cell)
{
    if (is_known) return cell;
    Cell none = absent();
    none.is_number = cell.is_number;
    return none;
}

Cell warning_if(bool is_warning, Cell cell)
{
    cell.is_warning = is_warning;
    return cell;
}

Cell numeric_text(std::string text)
{
    return {{}, std::move(text), true};
}

std::size_t DataTable::column(std::string_view name) const
{
    for (const auto field : {&TableColumn::title, &TableColumn::key}) {
        if (const TableColumn* const found = find_in(columns, name, field))
            return static_cast<std::size_t>(found - columns.data());
    }
    throw std::out_of_range("the table has no column '" + std::string(name) + "'");
}

DataTable text_table(const std::vector<std::string>& titles, const std::vector<std::vector<std::string>>& rows)
{
    DataTable table;
    for (const std::string& title : titles) table.columns.push_back({title, ""});
    for (const std::vector<std::string>& row : rows) {
        if (row.size() != titles.size()) throw std::logic_error("a row needs a cell for each title");
        table.rows.emplace_back();
        for (const std::string& text : row) {
            const bool is_number = text.find_first_of("0123456789+-<~") == 0;
            table.rows.back().cells.push_back(is_number ? numeric_text(text) : word(text));
        }
    }
    return table;
}

bool is_constant(const DataTable& table, std::size_t column)
{
    return std::ranges::all_of(table.rows, [&](const DataTable::Row& row) {
        return row.cells[column].text == table.rows.front().cells[column].text;
    });
}

void erase_column(DataTable& table, std::size_t column)
{
    const auto at = static_cast<std::ptrdiff_t>(column);
    table.columns.erase(table.columns.begin() + at);
    for (DataTable::Row& row : table.rows) row.cells.erase(row.cells.begin() + at);
}

void hide_if_empty(DataTable& table, std::string_view title)
{
    const std::size_t i = table.column(title);
    if (std::ranges::any_of(table.rows, [i](const auto& row) { return !row.cells[i].is_absent; })) return;
    table.columns[i].title.clear();
    if (table.columns[i].key.empty()) erase_column(table, i);
}

void drop_empty_columns(DataTable& table)
{
    for (std::size_t i = table.columns.size(); i-- > 0;) hide_if_empty(table, table.columns[i].title);
}

DataTable for_reading(DataTable table)
{
    for (TableColumn& column : table.columns) {
        if (!column.title.empty()) continue;
        column.title = column.key;
        std::erase(column.title, '*');
        std::ranges::replace(column.title, '_', ' ');
    }
    for (DataTable::Row& row : table.rows) {
        row.is_for_programs_only = false;
        for (Cell& cell : row.cells)
            if (const auto* value = std::get_if<double>(&cell.value); value != nullptr && cell.text.empty())
                cell.text = plain_number(*value);
    }
    for (std::size_t i = table.columns.size(); i-- > 0 && table.rows.size() > 1;)
        if (is_constant(table, i)) erase_column(table, i);
    return table;
}

DataTable visible_in(Shown sink, DataTable table)
{
    std::erase_if(table.rows, std::mem_fn(&DataTable::Row::is_for_programs_only));
    for (std::size_t i = table.columns.size(); i-- > 0;) {
        const auto& [title, key, shown] = table.columns[i];
        if (title.empty() || (shown != Shown::everywhere && shown != sink)) erase_column(table, i);
    }
    return table;
}

void append(DataTable& table, DataTable more)
{
    std::vector<std::size_t> places;  // of the columns of `more` in `table`
    for (TableColumn& column : more.columns) {
        const auto found = std::ranges::find_if(table.columns, [&](const TableColumn& one) {
            return one.key == column.key && (!one.key.empty() || one.title == column.title);
        });
        auto at = static_cast<std::size_t>(found - table.columns.begin());
        if (found == table.columns.end()) {
            at = places.empty() ? 0 : places.back() + 1;
            for (std::size_t& place : places) place += place >= at ? 1 : 0;
            for (DataTable::Row& row : table.rows)
                row.cells.insert(row.cells.begin() + static_cast<std::ptrdiff_t>(at), absent());
            table.columns.insert(table.columns.begin() + static_cast<std::ptrdiff_t>(at), std::move(column));
        } else if (found->title.empty()) {
            found->title = column.title;
        }
        places.push_back(at);
    }
    for (DataTable::Row& row : more.rows) {
        std::vector<Cell> cells(table.columns.size(), absent());
        for (std::size_t i = 0; i < row.cells.size(); ++i) cells[places[i]] = std::move(row.cells[i]);
        row.cells = std::move(cells);
        table.rows.push_back(std::move(row));
    }
}

json to_json(const Spread& ends)
{
    return {{"median", json_number(ends.median)}, {"low", json_number(ends.low)}, {"high", json_number(ends.high)}};
}

std::string to_csv(const DataTable& table)
{
    std::string csv = csv_line(keys_of(table));
    for (const DataTable::Row& row : table.rows) csv += csv_line(mapped(values_of(table, row), csv_cell));
    return csv;
}

json to_json(const DataTable& table)
{
    const std::vector<std::string> keys = keys_of(table);
    return mapped(table.rows, [&](const DataTable::Row& row) {
        const std::vector<json> values = values_of(table, row);
        json object = json::object();
        for (std::size_t i = 0; i < keys.size(); ++i) object[keys[i]] = values[i];
        return object;
    });
}

}  // namespace roof::analysis
