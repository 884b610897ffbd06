// SI prefixes: of what is printed and of what users write.
#pragma once

#include <optional>
#include <string_view>

namespace roof {

struct SiPrefix {
    double factor;
    std::string_view letter;
};
/// The one that leaves three digits of `value` between 1 and 999.
const SiPrefix& si_prefix(double value);
/// "3 GB" with the unit "B" -> 3e9; prefixes from k to P. None for any other text.
std::optional<double> parse_si(std::string_view text, std::string_view unit);

}  // namespace roof
