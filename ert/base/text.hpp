// Text for people: SI prefixes, globs, and suggestions for misspelt names.
#pragma once

#include <charconv>
#include <ctime>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace roof {

/// 1.234e9, "FLOP/s" -> "1.23 GFLOP/s": three significant digits, decimal (SI) prefixes. "-" for what is not finite.
std::string format_si(double value, std::string_view unit);

/// A capacity with binary prefixes, as usual for caches: 32768 -> "32 KiB".
std::string format_capacity(double bytes);

/// A readable duration: "12.3 ms", "4.56 s", "3 min 20 s", "4 h 48 min".
std::string format_duration(double seconds);

/// The shortest decimal text that parses to the same double; empty for what is not finite. Used in CSV.
std::string format_exact(double value);

std::string join(std::span<const std::string> words, std::string_view separator);
std::vector<std::string> split(std::string_view text, char separator);
std::string_view trim(std::string_view text);

/// Shell-like match: `*` any characters, `?` one character, all else literal.
bool glob_match(std::string_view pattern, std::string_view text);

/// ASCII letters in lower case.
std::string in_lower_case(std::string_view text);

/// The entry of `legal` with the fewest edits to `word`; empty if every entry differs by more than a third of `word`.
std::string nearest(std::string_view word, std::span<const std::string> legal);

/// The message for an unknown name: "unknown model 'resnet81'; did you mean 'resnet18'? legal values: …".
std::string unknown_word(std::string_view kind, std::string_view word, std::span<const std::string> legal);

/// Foreign text for any sink, on one line: '?' stands for each control character (C0, DEL, C1), which could move a
/// terminal's cursor, and for each byte that is no UTF-8. A mark that changes the direction of text is shown as
/// [U+202E].
std::string printable(std::string_view text);
/// The same; line ends and tabs stay.
std::string printable_lines(std::string_view text);

/// At most `most` bytes of `text`, with "…" for the rest.
std::string shortened(std::string_view text, std::size_t most);

// A moment as rows and looks state it: "2026-11-29T04:57:36Z", UTC in whole seconds.

std::string utc_text(std::time_t seconds);
/// Seconds since 1970; none for a text of another form. `form`: as strptime() has it.
std::optional<std::time_t> utc_seconds(const std::string& text, const char* form = "%Y-%m-%dT%H:%M:%SZ");

// What libraries and locales make of words.

/// What an error says, also one of a library: without the words by which the standard library and nlohmann::json mark
/// theirs.
std::string in_own_words(const std::exception& error);

/// Valid UTF-8 for a locale without it: the signs that roof writes in words of ASCII, any other character as \uXXXX, as
/// in JSON. "≤ 3", which has a blank, keeps its width.
std::string in_ascii(std::string_view text);

// Texts that are a single number, and numbers with a prefix.

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
