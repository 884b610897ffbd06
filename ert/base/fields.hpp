// The columns of a CSV file as members of a row: one table gives its header, writer and reader. Fields append to a line
// and read from a view of one, so that a million rows need no string per cell.
#pragma once

#include "ert/base/csv_lines.hpp"
#include "ert/base/error.hpp"
#include "ert/base/names.hpp"
#include "ert/base/text.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace roof {

template <class Row>
struct Field {
    std::string_view name;  ///< of the column, including the unit
    bool required;          ///< a file without it cannot be read
    void (*write)(const Row&, std::string& line);
    void (*read)(Row&, std::string_view cell);  ///< throws Error for an invalid cell
};

template <class Value>
constexpr bool is_optional = false;
template <class Value>
constexpr bool is_optional<std::optional<Value>> = true;

template <class Value>
void write_cell(std::string& line, const Value& value)
{
    if constexpr (std::is_same_v<Value, std::string>) {
        append_csv_cell(line, value);
    } else if constexpr (is_optional<Value>) {
        if (value) write_cell(line, *value);
    } else if constexpr (NamedEnum<Value>) {
        line += name(value);
    } else if constexpr (std::is_arithmetic_v<Value>) {
        std::array<char, 32> text{};
        line.append(text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr);
    } else {  // bytes, seconds
        write_cell(line, value.value);
    }
}

/// Throws Error for a cell of another type, and for a number below 0 of bytes or seconds. An empty optional is unknown.
template <class Value>
void read_cell(Value& value, std::string_view cell)
{
    const auto refuse = [&](const char* why) { throw Error("'" + printable(cell) + "' is " + why); };
    if constexpr (std::is_same_v<Value, std::string>) {
        value.assign(cell);
    } else if constexpr (is_optional<Value>) {
        value.reset();
        if (!cell.empty()) read_cell(value.emplace(), cell);
    } else if constexpr (NamedEnum<Value>) {
        value = parse_enum<Value>(cell);
    } else if constexpr (std::is_arithmetic_v<Value>) {
        const std::optional<Value> number = parse_number<Value>(cell);
        if (!number) refuse("not a number");
        if (!std::isfinite(static_cast<double>(*number))) refuse("not a finite number");
        value = *number;
    } else {
        auto amount = value.value;
        read_cell(amount, cell);
        if (amount < 0) refuse("less than 0");
        value.value = amount;
    }
}

/// `members`: the path to the member.
template <class Row, auto... members>
constexpr Field<Row> field(std::string_view name, bool is_required = false)
{
    return {name, is_required, [](const Row& row, std::string& line) { write_cell(line, (row.*....*members)); },
            [](Row& row, std::string_view cell) { read_cell((row.*....*members), cell); }};
}

template <class Fields>
std::string header_of(const Fields& fields)
{
    std::string header = "id";
    for (const auto& field : fields) header.append(",").append(field.name);
    return header;
}

/// Appends the line of the row with this id, with its line end.
template <class Row, class Fields>
void append_row(std::string& lines, std::string_view id, const Row& row, const Fields& fields)
{
    append_csv_cell(lines, id);
    for (const Field<Row>& field : fields) {
        lines += ',';
        field.write(row, lines);
    }
    lines += '\n';
}

/// The fields of a header, each with the number of its cell.
template <class Row>
using Places = std::vector<std::pair<const Field<Row>*, std::size_t>>;

/// Fills in what the current line holds. The first invalid cell: "column launch_s: 'x' is not a number"; empty if all
/// are valid.
template <class Row>
std::string read_row(Row& row, const CsvLines& lines, const Places<Row>& places)
{
    std::string what;
    for (const auto& [field, place] : places) {
        if (place >= lines.cells().size()) continue;
        try {
            field->read(row, lines.cells()[place]);
        } catch (const Error& error) {
            if (what.empty()) what = fmt::format("column {}: {}", field->name, error.what());
        }
    }
    return what;
}

}  // namespace roof
