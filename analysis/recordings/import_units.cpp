#include "analysis/recordings/import_units.hpp"

#include "ert/base/number.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace roof::analysis {

namespace {

struct Prefix {
    std::string_view text;
    double factor;
};

constexpr double kibi = 1024;
constexpr std::array decimal{Prefix{"n", 1e-9}, Prefix{"u", 1e-6}, Prefix{"m", 1e-3}, Prefix{"", 1},
                             Prefix{"K", 1e3},  Prefix{"M", 1e6},  Prefix{"G", 1e9},  Prefix{"T", 1e12}};
constexpr std::array binary{Prefix{"Ki", kibi}, Prefix{"Mi", kibi* kibi}, Prefix{"Gi", kibi* kibi* kibi}};

/// A unit as Nsight, LIKWID and perf write it, and the prefixes that it takes.
struct KnownUnit {
    std::string_view text, name;
    std::span<const Prefix> prefixes;
};

constexpr std::span<const Prefix> no_prefix(&decimal[3], 1), small(&decimal[0], 4), large(&decimal[3], 5);
constexpr std::array known_units{
    KnownUnit{"byte", "byte", large},
    KnownUnit{"Bytes", "byte", large},
    KnownUnit{"B", "byte", no_prefix},
    KnownUnit{"B", "byte", binary},
    KnownUnit{"second", "s", small},
    KnownUnit{"sec", "s", small},
    KnownUnit{"s", "s", small},
    KnownUnit{"hz", "Hz", large},
    KnownUnit{"Hz", "Hz", large},
    KnownUnit{"FLOP", "FLOP", large},
    KnownUnit{"inst", "inst", large},
    KnownUnit{"sector", "sector", large},
    KnownUnit{"cycle", "cycle", large},
    KnownUnit{"request", "request", no_prefix},
    KnownUnit{"warp", "warp", no_prefix},
    KnownUnit{"thread", "thread", no_prefix},
    KnownUnit{"block", "block", no_prefix},
    KnownUnit{"register", "register", no_prefix},
    KnownUnit{"SM", "SM", no_prefix},
    KnownUnit{"cluster", "cluster", no_prefix},
    KnownUnit{"pass", "pass", no_prefix},
    KnownUnit{"Joules", "J", no_prefix},
    KnownUnit{"J", "J", no_prefix},
    KnownUnit{"W", "W", no_prefix},
    KnownUnit{"1", "", no_prefix},
    KnownUnit{"", "", no_prefix},
};

bool is_digit(char letter)
{
    return letter >= '0' && letter <= '9';
}

/// Groups after the first separator have three digits, the first group one to three.
bool well_grouped(std::string_view whole, char separator)
{
    std::size_t begin = 0;
    for (bool first = true;; first = false) {
        const std::size_t end = std::min(whole.find(separator, begin), whole.size());
        const std::size_t length = end - begin;
        const bool alone = first && end == whole.size();
        if (!alone && (first ? length < 1 || length > 3 : length != 3)) return false;
        if (end == whole.size()) return true;
        begin = end + 1;
    }
}

}  // namespace

std::optional<Unit> unit_of(std::string_view text)
{
    const std::size_t over = text.find('/');
    if (over != text.npos) {
        const auto above = unit_of(text.substr(0, over)), below = unit_of(text.substr(over + 1));
        if (!above || !below) return {};
        return Unit{above->factor / below->factor, above->name + "/" + below->name};
    }
    if (text == "%") return Unit{0.01, ""};
    for (const KnownUnit& unit : known_units) {
        if (!text.ends_with(unit.text)) continue;
        const std::string_view before = text.substr(0, text.size() - unit.text.size());
        const auto prefix = std::ranges::find(unit.prefixes, before, &Prefix::text);
        if (prefix != unit.prefixes.end()) return Unit{prefix->factor, std::string(unit.name)};
    }
    return {};
}

std::optional<NumberStyle> style_shown_by(std::string_view number)
{
    const auto points = std::ranges::count(number, '.'), commas = std::ranges::count(number, ',');
    if (points > 1 && commas <= 1) return NumberStyle::comma;
    if (commas > 1 && points <= 1) return NumberStyle::point;
    if (points == 1 && commas == 1)
        return number.find('.') < number.find(',') ? NumberStyle::comma : NumberStyle::point;
    // One separator that separates no thousands is a decimal one.
    if (points == 1 && !number_of(number, NumberStyle::comma)) return NumberStyle::point;
    if (commas == 1 && !number_of(number, NumberStyle::point)) return NumberStyle::comma;
    return {};
}

std::optional<double> number_of(std::string_view text, NumberStyle style)
{
    const char mark = style == NumberStyle::point ? '.' : ',';
    const char group = style == NumberStyle::point ? ',' : '.';
    const std::size_t sign = !text.empty() && (text.front() == '-' || text.front() == '+') ? 1 : 0;
    const std::size_t whole_end = std::min(text.find_first_of(std::string{mark, 'e', 'E'}), text.size());
    if (whole_end == sign || !well_grouped(text.substr(sign, whole_end - sign), group)) return {};
    std::string plain = text.front() == '-' ? "-" : "";
    for (std::size_t i = sign; i < text.size(); ++i) {
        const char letter = text[i];
        if (letter == group && i < whole_end) continue;
        const bool exponent = letter == 'e' || letter == 'E' || letter == '-' || letter == '+';
        if (!is_digit(letter) && letter != mark && !exponent) return {};
        plain += letter == mark ? '.' : letter;
    }
    const std::optional<double> value = parse_number<double>(plain);
    return value && std::isfinite(*value) ? value : std::nullopt;
}

}  // namespace roof::analysis
