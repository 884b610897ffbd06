#include "analysis/table/table.hpp"

#include "analysis/table/json_values.hpp"
#include "analysis/table/quantities.hpp"
#include "ert/base/csv.hpp"
#include "ert/base/text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

namespace roof::analysis {

using nlohmann::json;

namespace {

constexpr std::array<std::string_view, 3> parts_of_range{"median", "low", "high"};

/// "time_*_s" -> time_median_s, time_low_s, time_high_s; any other key stays one.
std::vector<std::string> keys_of(const TableColumn& column)
{
    const std::size_t star = column.key.find('*');
    if (star == std::string::npos) return {column.key};
    std::vector<std::string> keys;
    for (const std::string_view part : parts_of_range)
        keys.push_back(column.key.substr(0, star) + std::string(part) + column.key.substr(star + 1));
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

/// One value for each key of the column.
std::vector<json> values_of(const TableColumn& column, const Cell& cell)
{
    if (column.key.find('*') == std::string::npos) return {json_of(cell.value)};
    const auto* range = std::get_if<Range>(&cell.value);
    if (range == nullptr) return std::vector<json>(parts_of_range.size());
    return {json_number(range->median), json_number(range->low), json_number(range->high)};
}

std::string csv_cell(const json& value)
{
    if (value.is_null()) return {};
    if (value.is_string()) return value.get<std::string>();
    return value.is_number_float() ? format_exact(value.get<double>()) : value.dump();
}

/// Calls `take(keys, values)` for the header (no values) and for each row.
template <class Take>
void each_line(const DataTable& table, const Take& take)
{
    std::vector<std::string> keys;
    for (const TableColumn& column : table.columns)
        if (!column.key.empty())
            for (std::string& key : keys_of(column)) keys.push_back(std::move(key));
    take(keys, nullptr);
    for (const DataTable::Row& row : table.rows) {
        std::vector<json> values;
        for (std::size_t i = 0; i < table.columns.size(); ++i)
            if (!table.columns[i].key.empty())
                for (json& value : values_of(table.columns[i], row.cells[i])) values.push_back(std::move(value));
        take(keys, &values);
    }
}

}  // namespace

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

Cell range(const Range& range, std::string_view unit)
{
    return {range, with_interval(range.median, range.low, range.high, unit), true};
}

Cell only_if(bool is_known, Cell cell)
{
    if (is_known) return cell;
    Cell none = absent();
    none.is_number = cell.is_number;
    return none;
}

Cell numeric_text(std::string text)
{
    return {{}, std::move(text), true};
}

bool DataTable::empty() const
{
    return std::ranges::all_of(rows, &Row::is_for_programs_only);
}

std::size_t DataTable::column(std::string_view name) const
{
    for (const auto field : {&TableColumn::title, &TableColumn::key}) {
        const auto found = std::ranges::find(columns, name, field);
        if (found != columns.end()) return static_cast<std::size_t>(found - columns.begin());
    }
    throw std::out_of_range("the table has no column '" + std::string(name) + "'");
}

const Cell& DataTable::cell(std::size_t row, std::string_view column_name) const
{
    return rows.at(row).cells.at(column(column_name));
}

void drop_empty_columns(DataTable& table)
{
    for (std::size_t i = table.columns.size(); i-- > 0;) {
        if (std::ranges::any_of(table.rows, [i](const auto& row) { return !row.cells[i].is_absent; })) continue;
        table.columns[i].title.clear();
        if (!table.columns[i].key.empty()) continue;
        const auto at = static_cast<std::ptrdiff_t>(i);
        table.columns.erase(table.columns.begin() + at);
        for (DataTable::Row& row : table.rows) row.cells.erase(row.cells.begin() + at);
    }
}

DataTable visible_in(Shown sink, const DataTable& table)
{
    const auto is_visible = [&](const TableColumn& column) {
        return !column.title.empty() && (column.shown == Shown::everywhere || column.shown == sink);
    };
    DataTable visible{
        .title = table.title, .note = table.note, .expendable = table.expendable, .identifying = table.identifying};
    std::ranges::copy_if(table.columns, std::back_inserter(visible.columns), is_visible);
    for (const DataTable::Row& row : table.rows) {
        if (row.is_for_programs_only) continue;
        visible.rows.emplace_back();
        for (std::size_t i = 0; i < table.columns.size(); ++i)
            if (is_visible(table.columns[i])) visible.rows.back().cells.push_back(row.cells[i]);
    }
    return visible;
}

void append(DataTable& table, DataTable more)
{
    table.columns = std::move(more.columns);
    std::ranges::move(more.rows, std::back_inserter(table.rows));
}

std::string to_csv(const DataTable& table)
{
    std::string csv;
    each_line(table, [&](const std::vector<std::string>& keys, const std::vector<json>* values) {
        std::vector<std::string> cells = keys;
        for (std::size_t i = 0; values != nullptr && i < cells.size(); ++i) cells[i] = csv_cell((*values)[i]);
        csv += csv_line(cells);
    });
    return csv;
}

json to_json(const DataTable& table)
{
    json list = json::array();
    each_line(table, [&](const std::vector<std::string>& keys, const std::vector<json>* values) {
        if (values == nullptr) return;
        json object = json::object();
        for (std::size_t i = 0; i < keys.size(); ++i) object[keys[i]] = (*values)[i];
        list.push_back(std::move(object));
    });
    return list;
}

}  // namespace roof::analysis
