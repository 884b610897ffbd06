#include "ert/recording/cells.hpp"

#include "ert/base/csv.hpp"
#include "ert/base/error.hpp"
#include "ert/base/number.hpp"
#include "ert/base/text.hpp"

#include <array>
#include <charconv>
#include <cmath>

namespace roof {
namespace {

template <class Value>
void append_number(std::string& line, Value value)
{
    std::array<char, 32> text{};
    line.append(text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr);
}

template <class Value>
Value number_in(std::string_view cell)
{
    if (const std::optional<Value> value = parse_number<Value>(cell)) return *value;
    throw Error("'" + printable(cell) + "' is not a number");
}

double not_negative(std::string_view cell)
{
    double value = 0;
    cells::read(value, cell);
    if (value < 0) throw Error("'" + printable(cell) + "' is less than 0");
    return value;
}

}  // namespace

namespace cells {

void write(std::string& line, const std::string& text)
{
    append_csv_cell(line, text);
}

void write(std::string& line, double value)
{
    append_number(line, value);
}

void write(std::string& line, Number number)
{
    if (number) append_number(line, *number);
}

void read(std::string& text, std::string_view cell)
{
    text.assign(cell);
}

void read(double& value, std::string_view cell)
{
    value = number_in<double>(cell);
    if (!std::isfinite(value)) throw Error("'" + printable(cell) + "' is not a finite number");
}

void read(Number& number, std::string_view cell)
{
    number.reset();
    if (!cell.empty()) number = number_in<std::uint64_t>(cell);
}

void read(Seconds& seconds, std::string_view cell)
{
    seconds.value = not_negative(cell);
}

void read(Bytes& bytes, std::string_view cell)
{
    bytes.value = not_negative(cell);
}

}  // namespace cells
}  // namespace roof
