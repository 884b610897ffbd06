// Texts that are a single number, and numbers with a prefix.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>

namespace roof {

/// The number in `text`, in the C locale, without blanks or a leading '+'. None for another text, or out of range.
template <class Number>
std::optional<Number> parse_number(std::string_view text)
{
    Number value{};
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || rest != text.data() + text.size()) return std::nullopt;
    return value;
}

// SI prefixes: of what is printed and of what users write (text.cpp).

struct SiPrefix {
    double factor;
    std::string_view letter;
};
/// The one that leaves three digits of `value` between 1 and 999.
const SiPrefix& si_prefix(double value);
/// "3 GB" with the unit "B" -> 3e9; prefixes from k to P. None for any other text.
std::optional<double> parse_si(std::string_view text, std::string_view unit);

}  // namespace roof
