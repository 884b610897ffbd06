// Units as other tools write them, by table: "Kbyte", "nsecond", "Ghz", "MiB", "MFLOP/s"; and numbers as they print them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace roof::analysis {

/// A value times `factor` is in `name`: byte, s, Hz, FLOP, inst, …, or a quotient of them.
struct Unit {
    double factor = 1;
    std::string name;
};

/// Nothing for a unit that the table does not have. The empty unit is a plain number.
std::optional<Unit> unit_of(std::string_view text);

/// How a file writes 1234567.5: "1,234,567.5" or "1.234.567,5".
enum class NumberStyle { point, comma };

/// What a number shows of the style of its file; nothing for one that both styles read alike, or neither.
std::optional<NumberStyle> style_shown_by(std::string_view number);

/// Nothing for what is no finite number in that style: groups of other than three digits, letters, an empty text.
std::optional<double> number_of(std::string_view text, NumberStyle style = NumberStyle::point);

}  // namespace roof::analysis
