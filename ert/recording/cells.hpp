// Writes and reads each type of value in the cells of the recorded files. An empty cell is an unknown value.
#pragma once

#include "ert/recording/records.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace roof::cells {

/// Quoted where necessary. Line ends become spaces, since a record is one line.
void write(std::string& line, const std::string& text);
void write(std::string& line, double value);
void write(std::string& line, Number number);
template <NamedInCells Enum>
void write(std::string& line, Enum value)
{
    line += name(value);
}
template <int F, int B, int T>
void write(std::string& line, Quantity<F, B, T> quantity)
{
    write(line, quantity.value);
}
template <class Value>
void write(std::string& line, const std::optional<Value>& value)
{
    if (value) write(line, *value);
}

/// All throw Error for a cell of another type. Numbers are finite; bytes and seconds are not negative.
void read(std::string& text, std::string_view cell);
void read(double& value, std::string_view cell);
void read(Number& number, std::string_view cell);
void read(Seconds& seconds, std::string_view cell);
void read(Bytes& bytes, std::string_view cell);
template <NamedInCells Enum>
void read(Enum& value, std::string_view cell)
{
    const auto names = names_of(value);
    value = value_in(names.rows, names.what, cell);
}
template <class Value>
void read(std::optional<Value>& value, std::string_view cell)
{
    if (cell.empty())
        value.reset();
    else
        read(value.emplace(), cell);
}

}  // namespace roof::cells
