// Texts of other tools: units ("Kbyte", "nsecond", "Ghz", "MiB", "MFLOP/s"), numbers, and lines with their numbers.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace roof::analysis {

/// A value times `factor` is in the unit `name`: byte, s, Hz, FLOP, inst, …, or a quotient of them.
struct Unit {
    double factor = 1;
    std::string name;
};

/// nullopt for an unknown unit. The empty unit is a plain number.
std::optional<Unit> unit_of(std::string_view text);

/// How a file writes 1234567.5: "1,234,567.5" or "1.234.567,5".
enum class NumberStyle { point, comma };

/// The style of a number; nullopt if it is valid in both styles or in neither.
std::optional<NumberStyle> style_shown_by(std::string_view number);

/// nullopt for a text that is not a finite number in that style.
std::optional<double> number_of(std::string_view text, NumberStyle style = NumberStyle::point);

/// The offset of the first line for which `fits(line)` is true; npos if there is none.
template <class Fits>
std::size_t find_line(std::string_view text, const Fits& fits)
{
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = text.find('\n', at);
        if (fits(text.substr(at, end == text.npos ? end : end - at))) return at;
        if (end == text.npos) break;
        at = end + 1;
    }
    return std::string_view::npos;
}

}  // namespace roof::analysis
