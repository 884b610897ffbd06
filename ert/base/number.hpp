// A number that is the whole of a text.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>

namespace roof {

/// The number that `text` consists of, in the C locale, without blanks or a leading '+'; none if it is anything else or out of range.
template <class Number>
std::optional<Number> parse_number(std::string_view text)
{
    Number value{};
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || rest != text.data() + text.size()) return std::nullopt;
    return value;
}

}  // namespace roof
