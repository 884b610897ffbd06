// Units and numbers as other tools print them: "Kbyte", "nsecond", "Ghz", "MiB", "MFLOP/s".
#pragma once

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

}  // namespace roof::analysis
