// Text for people: SI prefixes, globs, and suggestions for misspelt names.
#pragma once

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

}  // namespace roof
