#include "ert/method/bench/point.hpp"

#include "ert/base/error.hpp"
#include "ert/base/text.hpp"

#include <algorithm>

namespace roof {
namespace {

template <class Number>
Number number_in(std::string_view axis, const std::string& word, const char* what)
{
    if (const auto value = parse_number<Number>(word)) return *value;
    throw InputError(std::string(axis) + ": '" + printable(word) + "' is not " + what);
}

}  // namespace

void Point::set(std::string_view axis, std::string value)
{
    const auto found = std::ranges::find(values_, axis, [](const auto& pair) { return std::string_view(pair.first); });
    if (found != values_.end()) {
        found->second = std::move(value);
    } else {
        values_.emplace_back(std::string(axis), std::move(value));
    }
}

Point Point::without(std::string_view axis) const
{
    Point rest = *this;
    std::erase_if(rest.values_, [&](const auto& pair) { return pair.first == axis; });
    return rest;
}

bool Point::has(std::string_view axis) const
{
    return std::ranges::any_of(values_, [&](const auto& pair) { return pair.first == axis; });
}

const std::string& Point::text(std::string_view axis) const
{
    for (const auto& [name, value] : values_)
        if (name == axis) return value;
    throw Error("the point '" + str() + "' has no axis '" + std::string(axis) + "'");
}

long long Point::integer(std::string_view axis) const
{
    return number_in<long long>(axis, text(axis), "a whole number");
}

double Point::number(std::string_view axis) const
{
    return number_in<double>(axis, text(axis), "a number");
}

std::string Point::str() const
{
    std::string text;
    for (const auto& [axis, value] : values_)
        text.append(text.empty() ? "" : " ").append(axis).append("=").append(value);
    return text;
}

}  // namespace roof
