// Parses texts that are a single number.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>

namespace roof {

/// The number in `text`, in the C locale, without blanks or a leading '+'. Returns none for any other text or a number
/// out of range.
template <class Number>
std::optional<Number> parse_number(std::string_view text)
{
    Number value{};
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || rest != text.data() + text.size()) return std::nullopt;
    return value;
}

}  // namespace roof
